"""What a compiler's log means, and what to do about it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence

_MISSING_HEADER = re.compile(
    r'(?:(?:cannot|could not) open source file "|fatal error: \')([^"\']+)'
)
# Those that libcu++ has under cuda/std; other host headers have no counterpart.
_STANDARD_HEADERS = re.compile(
    "algorithm|array|atomic|barrier|bit|bitset|chrono|complex|concepts|execution|expected"
    "|functional|initializer_list|iterator|latch|limits|memory|mutex|new|numbers|numeric"
    "|optional|random|ranges|ratio|semaphore|span|string_view|tuple|type_traits|utility"
    "|variant|version"
)
# Those that even libcu++ has no use for.
_HOST_HEADERS = re.compile(
    "cuda_gl_interop.h|deque|filesystem|fstream|future|iomanip|ios|iostream|list|locale"
    "|map|omp.h|ostream|queue|regex|set|sstream|stack|stdexcept|string|sys/\\w+.h"
    "|system_error|thread|time.h|unistd.h|unordered_map|unordered_set|valarray|vector"
)
_WHEELS = (
    (r"(?:cub|thrust|nv|cuda)/", "nvidia-cuda-cccl"),
    (r"crt/", "nvidia-cuda-crt"),
    (r"cuda\w*\.hp?p?$|cooperative_groups|mma\.h|vector_|cuComplex|device_", None),
)


def _undefined(names: str) -> str:
    """A pattern for NVRTC's, and clang's, word that none of `names` is known."""
    return (
        rf'identifier "(?:{names})" is undefined'
        rf"|(?:unknown type name|undeclared identifier) '(?:{names})'"
    )


_HINTS = (
    (
        r"Instruction '[\w.:]+' not supported on \.target 'sm_\d+'",
        "Instructions that one architecture alone has need its name with an a, such as "
        'NvrtcOptions(arch="sm_90a").',
    ),
    (
        r"cub/cub\.cuh|Including <cub/cub",
        "The umbrella <cub/cub.cuh> holds host code. Include the specific header, such "
        "as <cub/block/block_reduce.cuh>.",
    ),
    (
        r"thrust/",
        "Thrust needs a host compiler. Use <cuda/std/complex> and the other cuda/std "
        "headers instead.",
    ),
    (
        r"include/cuda\.h\(",
        "<cuda.h> is the driver's header for host code. Declare what you need of it.",
    ),
    (
        _undefined(r"u?int(?:ptr|max|_\w+|\d+)_t"),
        "Add #include <cstdint>; the package brings it.",
    ),
    (
        _undefined(r"INFINITY|NAN|HUGE_VAL\w?|M_\w+"),
        "Add #include <cmath>; the package brings it.",
    ),
    (
        _undefined(r"(?:FLT|DBL)_\w+"),
        "Add #include <cfloat>; the package brings it.",
    ),
    (
        _undefined(r"U?(?:CHAR|SHRT|INT|LONG|LLONG)_(?:MIN|MAX)"),
        "Add #include <climits>; the package brings it.",
    ),
    (
        _undefined("uint|ushort|ulong"),
        "uint, ushort and ulong are names of a host's C library, which nvcc brings "
        'along. Set NvrtcOptions.defines to {"uint": "unsigned int"}.',
    ),
    (
        _undefined("half2?|__half2?"),
        "Add #include <cuda_fp16.h>.",
    ),
    (
        _undefined("(?:__)?nv_bfloat162?"),
        "Add #include <cuda_bf16.h>.",
    ),
    (
        _undefined(
            r"cuda(?:Texture|Surface)\w+|cudaReadMode\w+|tex[123]D\w*|surf[123]D\w*"
        )
        + "|texture is not a template|no template named 'texture'",
        "There are no textures and surfaces here. Read global memory, with __ldg.",
    ),
    (
        _undefined(r"cuda(?:Malloc|Free|Mem|Device|Stream|Event|Get|Host|Func)\w*")
        + "|undeclared identifier cudaConfigureCall",
        "This is host code. Hand over the kernels and what they call: JAX owns memory "
        "and streams, and rc.op launches several kernels.",
    ),
    (
        r"device-side kernel launch|kernel launch from __device__ or __global__",
        "A kernel cannot start kernels here. Launch all of them from an rc.op.",
    ),
    (
        r"without execution space annotations|(?:reference|call) to __host__ function",
        'Write __device__ before the function, set extra=("-default-device",), or take '
        "it out if it is host code.",
    ),
    (
        r'namespace "std" has no member',
        "Device code has cuda::std::, from <cuda/std/...>, in place of std::.",
    ),
    (
        r"(?s)--define-macro=.*\b__nv_nvrtc_builtin_header\.h\(\d+\): error",
        "A name in NvrtcOptions.defines is one that CUDA's own headers use. Choose "
        "another, or write the #define at the top of the source.",
    ),
    (
        r"uses too much shared data",
        "Static shared memory ends at 48 KB. Declare `extern __shared__` memory and "
        "set shared_mem_bytes.",
    ),
)


def hints(log: str) -> list[str]:
    """Returns advice on the failures that have a known cause."""
    found = [advice for pattern, advice in _HINTS if re.search(pattern, log)]
    missing = _MISSING_HEADER.search(log)
    if missing and not found:
        found.append(_missing_header(missing[1]))
    return found


def _missing_header(name: str) -> str:
    if _STANDARD_HEADERS.fullmatch(name):
        return (
            f"<{name}> is a header of host code. Use <cuda/std/{name}> and cuda::std::."
        )
    if _HOST_HEADERS.fullmatch(name):
        return (
            f"<{name}> is a header of host code. Hand over the kernels and what they "
            "call."
        )
    if name.startswith("curand"):
        return (
            f"Run: pip install nvidia-curand, and give the directory of {name} in "
            "NvrtcOptions.include_dirs."
        )
    for pattern, wheel in _WHEELS:
        if re.match(pattern, name):
            return f"Run: pip install {wheel or 'nvidia-cuda-runtime'}"
    return (
        f'Give the directory of "{name}" in NvrtcOptions.include_dirs, or its text in '
        "NvrtcOptions.headers."
    )


def failure(
    subject: str, arch: str, compiler: str, flags: Sequence[str], log: str
) -> str:
    """Writes the message of a CompileError: what failed, the whole log, advice."""
    options = " ".join(flags) or "none"
    head = f"{subject} failed to compile for {arch} ({compiler}, options: {options})."
    message = f"{head}\n{log}"
    return with_hints(message, message)


def with_hints(message: str, log: str) -> str:
    """Adds what is known about the failures in `log` to a message."""
    return "\n".join([message, *(f"Hint: {advice}" for advice in hints(log))])


def unknown_kernel(subject: str, name: str, known: Iterable[str]) -> str:
    """Writes the message for a kernel that the source does not have."""
    return _no_such("kernel", subject, name, known)


def unknown_variable(subject: str, name: str, known: Iterable[str], text: str) -> str:
    """Writes the message for a variable that `text`, CUDA C++ or PTX, does not have."""
    last = re.escape(name.split("::")[-1])
    if re.search(rf"(__shared__|\.shared)\b[^;]*?\b{last}\s*[\[;,={{]", text):
        return (
            f"{subject}: variable '{name}' is shared memory, of which each block has "
            "its own. Fill it in the kernel, or declare it __device__ or __constant__."
        )
    return _no_such("variable", subject, name, known)


def unreachable_variable(
    subject: str, name: str, known: Iterable[str], source: str
) -> str:
    """Writes the message for a variable that no expression at namespace scope names."""
    known = set(known)
    local = {other for other in known if ")::" in other}  # k(int*)::counter
    for other in sorted(local):
        function, _, last = other.rpartition("::")
        if name in (other, last, f"{function.split('(')[0]}::{last}"):
            return (
                f"{subject}: variable '{name}' is local to `{function}`, where no name "
                "reaches it. Declare it outside of the function."
            )
    if name in known:
        return (
            f"{subject}: variable '{name}' has a type without a name, which the "
            "compiler cannot spell. Name it: `struct Name {...};`."
        )
    return unknown_variable(subject, name, known - local, source)


def _no_such(what: str, subject: str, name: str, known: Iterable[str]) -> str:
    known = sorted(set(known))
    base = name.split("<")[0]
    near = [other for other in known if other.split("::")[-1] == base]
    last = {other.split("::")[-1]: other for other in known}
    near += [last[short] for short in difflib.get_close_matches(base, last, n=3)]
    near += difflib.get_close_matches(base, known, n=3)
    question = " or ".join(map(repr, dict.fromkeys(near)))
    return (
        f"{subject}: no {what} {name!r}."
        + (f" Did you mean {question}?" if near else "")
        + f" {what.title()}s in the source: {', '.join(known) or 'none'}."
    )
