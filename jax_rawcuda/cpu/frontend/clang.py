"""CUDA C++ to PTX with clang, our own headers and no part of the CUDA toolkit."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from ..._base.demangle import demangle
from ..._base.errors import CompileError, ValidationError
from . import invoke
from .cccl import cccl_identity, cccl_include_dirs
from .cluster_dims import cluster_lines, with_cluster_dims
from .invoke import ARCH
from .prelude import LARGE_HEADERS, headers_digest, prelude_flags
from .toolchain import C_INCLUDE_DIR, INCLUDE_DIR, Clang, find_clang

_FLAGS = (
    "-x",
    "cuda",
    "--cuda-device-only",
    f"--cuda-gpu-arch={ARCH}",
    "-nocudainc",
    "-nocudalib",
    "-nostdinc",
    "-nostdinc++",
    "-S",
    "-O3",
    "-gline-tables-only",
    # NVRTC contracts a * b + c as well, except in functions that state a rounding.
    "-ffp-contract=fast-honor-pragmas",
    "-fno-math-errno",
    # A lane that has no value of its own may pass an uninitialised variable to a
    # shuffle; clang must not take that for unreachable code.
    "-Xclang",
    "-no-enable-noundef-analysis",
    # What C++ leaves undefined and kernels do: memory read as another type, as nvcc
    # allows; loops without an end, null pointers and a full heap, which are reported.
    "-fno-strict-aliasing",
    "-fno-finite-loops",
    "-fno-delete-null-pointer-checks",
    "-fno-builtin-malloc",
    "-fno-exceptions",
    "-fno-rtti",
    "-fdeclspec",
    "-fno-color-diagnostics",
    "-Wno-unknown-cuda-version",
)

# Each name expression becomes a variable whose type spells the kernel's signature and
# whose initial value is its symbol. Both are read off the PTX, then removed.
_PROBE = "__jax_rawcuda_probe"
_PROBE_LINE = re.compile(
    rf"^(?:\.visible |\.weak )?\.global [^\n=]*\b(_ZN?\w*{_PROBE}\w*) = (?:generic\()?"
    r"([\w$.%]+)\)?;\n",
    re.MULTILINE,
)
_ENTRY_DECLARATION = re.compile(
    r"^\.(?:visible|weak|extern) \.entry \S+\s*\([^()]*\)\s*;\n", re.MULTILINE
)

# clang's flag flushes f16 and bf16 as well; the user's own assembly is left alone.
_INLINE_ASSEMBLY = re.compile(r"(// begin inline asm\n.*?// end inline asm\n)", re.S)
_HALF_FLUSH = re.compile(r"\.ftz(?=\.b?f16(?:x2)?[ \t])")


@dataclasses.dataclass(frozen=True, slots=True)
class ClangResult:
    """A compiled source.

    Attributes:
      ptx: The PTX text of every kernel, with line information.
      lowered_names: The PTX symbol of each name expression.
      demangled: The function pointer type of each name expression, such as
        `void (*)(float const*, float*, int)`.
      log: The compiler's warnings.
    """

    ptx: str
    lowered_names: dict[str, str]
    demangled: dict[str, str]
    log: str


@dataclasses.dataclass(frozen=True, slots=True)
class _Request:
    """The arguments of one compilation."""

    source: str
    program_name: str
    std: str
    defines: tuple[tuple[str, str], ...]
    include_dirs: tuple[str, ...]
    headers: tuple[tuple[str, str], ...]
    fast_math: bool
    flags: tuple[str, ...]
    name_expressions: tuple[str, ...]
    checked: bool


def compile_source(
    source: str,
    *,
    program_name: str,
    std: str | None = None,
    defines: Mapping[str, str] | None = None,
    include_dirs: Sequence[str] = (),
    headers: Mapping[str, str] | None = None,
    fast_math: bool = False,
    flags: Sequence[str] = (),
    name_expressions: Sequence[str] = (),
    checked: bool = False,
) -> ClangResult:
    """Compiles CUDA C++ to PTX for the CPU route.

    Args:
      source: The text. It may hold `#line` directives.
      program_name: The file that messages name where no `#line` says otherwise.
      std: The language, such as `c++20`; C++17 by default.
      defines: Macros by name.
      include_dirs: Folders searched after our own headers.
      headers: Header texts by the name they are included under.
      fast_math: Whether `sinf` and its like become `__sinf` and its like, and f32
        arithmetic flushes subnormal numbers to zero.
      flags: Further flags of clang.
      name_expressions: Kernels to instantiate and to name, such as `ns::saxpy<float>`.
      checked: Whether accesses must have the alignment that their type asks for.

    Raises:
      CompileError: clang refused the source; the message holds its log.
      UnsupportedError: There is no clang, or no C++ runtime to read signatures with.
    """
    return _compile(
        _Request(
            source=source,
            program_name=program_name,
            std=std or "c++17",
            defines=tuple(sorted((defines or {}).items())),
            include_dirs=tuple(str(Path(folder).resolve()) for folder in include_dirs),
            headers=tuple(sorted((headers or {}).items())),
            fast_math=fast_math,
            flags=tuple(flags),
            name_expressions=tuple(dict.fromkeys(name_expressions)),
            checked=checked,
        ),
        find_clang(),
    )


def clang_identity() -> str:
    """Returns what the results depend on beside the arguments of `compile_source`.

    Raises:
      UnsupportedError: There is no clang.
    """
    files = sorted(Path(__file__).parent.glob("*.py"))
    ours = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
    return repr((find_clang().fingerprint, ours, headers_digest(), cccl_identity()))


def _compile(request: _Request, clang: Clang) -> ClangResult:
    with tempfile.TemporaryDirectory(prefix="jax_rawcuda-") as scratch:
        # Quoted includes look into the working directory first: it has nothing in it.
        folder, empty = f"{scratch}/headers", f"{scratch}/empty"
        Path(empty).mkdir()
        _write_headers(Path(folder), request.headers)
        flags = _flags(request, folder)
        compiler = invoke.run_checked if request.checked else invoke.run
        run = functools.partial(compiler, clang, empty, text=_with_probes(request))
        code, ptx, log = run((*flags, *_prelude(clang, request)))
        # One of another build of clang, or of headers that have changed since.
        if code and ("PCH file" in log or "precompiled header" in log):
            code, ptx, log = run((*flags, "-include", "jrc_prelude.h"))
        log = log.replace(folder + "/", "").strip()
        # clang makes file names absolute; a program name is relative to nothing.
        ptx = re.sub(rf'"{re.escape(scratch)}/(?:headers|empty)/', '"', ptx)
    if code:
        raise CompileError(
            f"{request.program_name} failed to compile for the CPU ({clang}):\n{log}",
            log=log,
            source=request.source,
            options=(*clang.command, *flags),
            arch=ARCH,
        )
    return _result(request, ptx, log)


def _language(request: _Request) -> tuple[str, ...]:
    """The flags that a precompiled prelude depends on."""
    flags = [*_FLAGS, f"-std={request.std}"]
    if request.fast_math:
        flags += ["-D__JRC_FAST_MATH__", "-fgpu-flush-denormals-to-zero"]
    flags += request.flags
    # The only standard macro that the prelude itself reads.
    flags += ["-DNDEBUG" for name, _ in request.defines if name == "NDEBUG"]
    return tuple(flags)


def _flags(request: _Request, folder: str) -> tuple[str, ...]:
    ours = str(INCLUDE_DIR), str(C_INCLUDE_DIR)
    includes = (folder, *ours, *request.include_dirs, *cccl_include_dirs())
    return (
        *_language(request),
        *(f"-D{name}={value}" for name, value in request.defines if name != "NDEBUG"),
        *(f"-I{path}" for path in includes),
    )


def _prelude(clang: Clang, request: _Request) -> tuple[str, ...]:
    own = {name for name, _ in request.headers}
    used = [
        name for name in LARGE_HEADERS if name in request.source and name not in own
    ]
    return prelude_flags(clang, _language(request), used)


def _with_probes(request: _Request) -> str:
    lines = [f"#line 1 {_quoted(request.program_name)}", request.source]
    if request.name_expressions:
        lines.append(f"template <class F, int I> __device__ F {_PROBE};")
    for index, name in enumerate(request.name_expressions):
        lines.append(f"#line 1 {_quoted(f'name expression {name}')}")
        lines.append(
            "template <> __device__ __attribute__((used)) "
            f"decltype(&{name}) {_PROBE}<decltype(&{name}), {index}> = &{name};"
        )
    return "\n".join([*lines, *cluster_lines(request.source), ""])


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _write_headers(folder: Path, headers: tuple[tuple[str, str], ...]) -> None:
    for name, text in headers:
        parts = PurePosixPath(name)
        if parts.is_absolute() or ".." in parts.parts or not parts.parts:
            raise ValidationError(
                f"headers: {name!r} must be the relative name of an #include."
            )
        path = folder.joinpath(*parts.parts)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _result(request: _Request, ptx: str, log: str) -> ClangResult:
    lowered: dict[str, str] = {}
    types: dict[str, str] = {}
    for variable, symbol in _PROBE_LINE.findall(ptx):
        spelled = re.fullmatch(rf"{_PROBE}<(.*), (\d+)>", demangle(variable), re.DOTALL)
        if spelled is None:
            raise AssertionError(f"clang names a probe {variable}")
        name = request.name_expressions[int(spelled[2])]
        lowered[name], types[name] = symbol, spelled[1]
    ptx = _ENTRY_DECLARATION.sub("", _PROBE_LINE.sub("", ptx))
    if request.fast_math:
        parts = _INLINE_ASSEMBLY.split(ptx)
        parts[::2] = [_HALF_FLUSH.sub("", part) for part in parts[::2]]
        ptx = "".join(parts)
    ptx = with_cluster_dims(request.source, ptx)
    # clang makes file names absolute; a program name is relative to nothing.
    ours = "|".join(re.escape(str(path)) for path in (INCLUDE_DIR, C_INCLUDE_DIR))
    ptx = re.sub(rf'^(\s*\.file\s+\d+ ")(?:{ours})/', r"\1", ptx, flags=re.M)
    return ClangResult(ptx, lowered, types, log)
