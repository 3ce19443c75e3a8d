"""NVRTC: CUDA C++ text in; cubin, PTX and kernel types out. Needs no GPU, no driver."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

from .._base.demangle import demangle
from .._base.errors import BackendError, UnsupportedError, ValidationError
from .._source.headers import cuda_include_dirs
from .._source.options import NvrtcOptions as NvrtcOptions
from .._source.shims import shims
from .result import CompileResult, Usage

# Instantiated with the type of `&kernel`, its own symbol spells that type.
PROBE = "jax_rawcuda_probe"
# The folder of the text, which no file has: quoted includes would look there first.
_NOWHERE = "<source>/"
PROBE_DECLARATION = f"template <typename F> __global__ void {PROBE}() {{}}\n"


class NvrtcFailure(Exception):
    """NVRTC refused a text; holds its log. `_program` makes a CompileError of it."""

    def __init__(self, log: str, flags: Sequence[str]) -> None:
        super().__init__(log)
        self.log = log
        self.flags = tuple(flags)


@functools.cache
def _binding() -> ModuleType | None:
    """The NVRTC binding, None when it or the library is missing."""
    try:
        from cuda.bindings import nvrtc

        nvrtc.nvrtcVersion()
    except (ImportError, RuntimeError, OSError):
        return None
    return nvrtc  # type: ignore[no-any-return]


def is_available() -> bool:
    """Tells whether NVRTC is installed and loads."""
    return _binding() is not None


def _nvrtc() -> ModuleType:
    binding = _binding()
    if binding is None:
        raise UnsupportedError(
            "NVRTC is not installed, or its library does not load. "
            "Run: pip install cuda-bindings nvidia-cuda-nvrtc"
        )
    return binding


def _call(function: str, *arguments: Any) -> Any:
    """Calls NVRTC, raises on any status but success, returns what else it gave."""
    binding = _nvrtc()
    status, *values = getattr(binding, function)(*arguments)
    if status != binding.nvrtcResult.NVRTC_SUCCESS:
        raise BackendError(f"{function} failed: {status.name}.", status.name)
    return values[0] if len(values) == 1 else tuple(values)


@functools.cache
def version() -> tuple[int, int]:
    """Returns NVRTC's version, such as (13, 5)."""
    major, minor = _call("nvrtcVersion")
    return int(major), int(minor)


def version_text() -> str:
    """Returns NVRTC's version as people write it, such as 13.5."""
    return ".".join(map(str, version()))


@functools.cache
def supported_archs() -> tuple[int, ...]:
    """Returns the compute capabilities that NVRTC knows, such as 90 for 9.0."""
    return tuple(sorted(map(int, _call("nvrtcGetSupportedArchs"))))


def check_arch(arch: str) -> None:
    """Refuses an architecture that this NVRTC does not know."""
    known = supported_archs()
    number = int(re.sub(r"\D", "", arch))
    if number not in known:
        nearest = min(known, key=lambda other: abs(other - number))
        raise ValidationError(
            f"arch={arch!r}: NVRTC {version_text()} knows "
            f"{', '.join(f'sm_{n}' for n in known)}. The nearest is sm_{nearest}."
        )


def compile_text(
    text: str,
    *,
    program_name: str,
    arch: str,
    flags: Sequence[str] = (),
    include_dirs: Sequence[str] = (),
    headers: Mapping[str, str] | None = None,
    expressions: Sequence[str] = (),
    probes: Sequence[str] = (),
) -> CompileResult:
    """Compiles once.

    Args:
      text: The whole translation unit; declares `PROBE` when there are `probes`.
      program_name: The file name that messages show.
      arch: `sm_90` gives a cubin and PTX, `compute_90` only PTX.
      flags: Further flags.
      include_dirs: Searched before CUDA's.
      headers: Header texts by name.
      expressions: Kernels to instantiate and to give the symbols of.
      probes: Kernels to give the types of.

    Raises:
      NvrtcFailure: The text does not compile.
      BackendError: NVRTC failed otherwise.
    """
    sources = {**shims(), **(headers or {})}
    program = _call(
        "nvrtcCreateProgram",
        text.encode(),
        (_NOWHERE + program_name).encode(),
        len(sources),
        [source.encode() for source in sources.values()],
        [name.encode() for name in sources],
    )
    probe_of = {name: f"{PROBE}<decltype(&{name})>" for name in probes}
    try:
        for name in (*expressions, *probe_of.values()):
            _call("nvrtcAddNameExpression", program, name.encode())
        _run(program, arch, flags, [*include_dirs, *map(str, cuda_include_dirs())])
        log, usage = _split_log(_read(program, "ProgramLog").decode(errors="replace"))
        cubin = b"" if arch.startswith("compute_") else _read(program, "CUBIN")
        ptx = _read(program, "PTX").rstrip(b"\0").decode()
        lowered = tuple((name, _lowered(program, name)) for name in expressions)
        types = tuple(
            (name, _probed_type(_lowered(program, probe)))
            for name, probe in probe_of.items()
        )
    finally:
        _call("nvrtcDestroyProgram", program)
    return CompileResult(cubin, ptx, lowered, types, usage, log)


def _run(
    program: Any, arch: str, flags: Sequence[str], include_dirs: Sequence[str]
) -> None:
    options = [f"--gpu-architecture={arch}", *flags]
    all_options = [
        *options,
        "--ptxas-options=-v",
        # NVRTC's own cache hands back code without ptxas's report; ours keeps both.
        "--no-cache",
        *(f"--include-path={directory}" for directory in include_dirs),
    ]
    encoded = [option.encode() for option in all_options]
    (status,) = _nvrtc().nvrtcCompileProgram(program, len(encoded), encoded)
    if status == _nvrtc().nvrtcResult.NVRTC_SUCCESS:
        return
    log, _ = _split_log(_read(program, "ProgramLog").decode(errors="replace"))
    log = log.replace(_NOWHERE, "")
    raise NvrtcFailure(log or status.name, options)


def _read(program: Any, what: str) -> bytes:
    size = _call(f"nvrtcGet{what}Size", program)
    if size <= 1:  # nothing but a NUL; and Python shares bytes of this size
        return b""
    data = bytes(size)  # the binding fills it in place
    _call(f"nvrtcGet{what}", program, data)
    return data


def _lowered(program: Any, expression: str) -> str:
    name: bytes = _call("nvrtcGetLoweredName", program, expression.encode())
    return name.decode()


def _probed_type(symbol: str) -> str:
    """Takes the type out of `void probe<void (*)(float*)>()`."""
    text = demangle(symbol)
    return text[text.index("<") + 1 : text.rindex(">")]


_PTXAS_LINE = re.compile(r"^ptxas (?:info  |     )  .*\n?", re.MULTILINE)
_PTXAS_KERNEL = re.compile(r"Compiling entry function '([^']+)'")
_PTXAS_NUMBERS = (
    ("registers", r"Used (\d+) registers"),
    ("shared_bytes", r"(\d+) bytes smem"),
    ("local_bytes", r"(\d+) bytes (?:stack frame|cumulative stack size)"),
    ("spill_bytes", r"(\d+) bytes spill (?:stores|loads)"),
)


def _split_log(log: str) -> tuple[str, tuple[tuple[str, Usage], ...]]:
    """Takes ptxas's report out of the log: it has times in it, and nothing wrong."""
    report = "".join(_PTXAS_LINE.findall(log))
    usage = []
    parts = _PTXAS_KERNEL.split(report)
    for symbol, part in zip(parts[1::2], parts[2::2], strict=True):
        if PROBE in symbol:
            continue
        part = part.split("Compile time")[0]  # what follows are device functions
        numbers = {
            field: [int(number) for number in re.findall(pattern, part)]
            for field, pattern in _PTXAS_NUMBERS
        }
        spill = sum(numbers.pop("spill_bytes"))
        found = {field: max(values, default=0) for field, values in numbers.items()}
        usage.append((symbol, Usage(**found, spill_bytes=spill)))
    return _PTXAS_LINE.sub("", log).strip("\0 \n"), tuple(usage)
