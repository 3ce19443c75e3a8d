"""Our device headers: every header stands alone, every documented function exists."""

from __future__ import annotations

import string
from pathlib import Path

import pytest
from support.process import run_command

from jax_rawcuda.cpu.frontend import clang, toolchain
from jax_rawcuda.cpu.frontend.cccl import cccl_include_dirs
from jax_rawcuda.cpu.frontend.clang import compile_source


def words(text):
    return text.split()


def statements(name, **names):
    """Lines of a file of statements, with $NAME replaced."""
    path = Path(__file__).parent / "device_functions" / f"{name}.inc"
    text = path.read_text().partition("\n")[2]
    return string.Template(text).substitute(names).splitlines()


HEADERS = sorted(
    path.relative_to(folder).as_posix()
    for folder in (toolchain.INCLUDE_DIR, toolchain.C_INCLUDE_DIR)
    for path in folder.rglob("*")
    if path.is_file()
    and path.relative_to(folder).parts[0] not in ("jrc", "cuda", "thrust")
)

F1 = words(
    """acos acosh asin asinh atan atanh cbrt ceil cos cosh cospi cyl_bessel_i0
    cyl_bessel_i1 erf erfc erfcinv erfcx erfinv exp exp10 exp2 expm1 fabs floor j0 j1
    lgamma log log10 log1p log2 logb nearbyint normcdf normcdfinv rcbrt rint round rsqrt
    sin sinh sinpi sqrt tan tanh tgamma trunc y0 y1"""
)
F2 = words(
    """atan2 copysign fdim fmax fmin fmod hypot nextafter pow remainder rhypot"""
)
ROUNDS = ("rn", "rz", "rd", "ru")
CONVERSIONS = [
    f"__{source}2{target}_{r}"
    for source, targets in {
        "float": ("int", "uint", "ll", "ull"),
        "double": ("int", "uint", "ll", "ull", "float"),
        "int": ("float",),
        "uint": ("float",),
        "ll": ("float", "double"),
        "ull": ("float", "double"),
    }.items()
    for target in targets
    for r in ROUNDS
]
SIMD = [
    f"__v{name}{lanes}"
    for lanes in (2, 4)
    for name in words(
        """add sub addss subss addus subus avgs avgu haddu maxs maxu mins minu absdiffs
        absdiffu cmpeq cmpne cmpges cmpgeu cmpgts cmpgtu cmples cmpleu cmplts cmpltu
        seteq setne setges setgeu setgts setgtu setles setleu setlts setltu
        sads sadu"""
    )
]
SCOPES = ("", "_block", "_system")

HALF_1 = words("""hneg habs""")
HALF_2 = words(
    """hadd hsub hmul hadd_rn hsub_rn hmul_rn hadd_sat hsub_sat hmul_sat hdiv hmax
    hmin hmax_nan hmin_nan"""
)
HALF_3 = words("""hfma hfma_sat hfma_relu""")
HALF_MATH = words(
    """sqrt rsqrt rcp exp exp2 exp10 log log2 log10 sin cos tanh floor ceil trunc
    rint"""
)
COMPARE = [f"{op}{u}" for op in ("eq", "ne", "le", "ge", "lt", "gt") for u in ("", "u")]


def compile_kernel(parameters, lines, includes=()):
    text = "".join(f"#include <{name}>\n" for name in includes)
    body = "\n".join(f"  {line}" for line in lines)
    source = f"{text}__global__ void k({parameters}) {{\n{body}\n}}"
    return compile_source(source, program_name="k.cu").ptx


def pair_name(name):
    """__hadd_sat -> __hadd2_sat; __hdiv -> __h2div."""
    if name == "hdiv":
        return "__h2div"
    stem, _, rest = name.partition("_")
    return f"__{stem}2{'_' + rest if rest else ''}"


@pytest.mark.parametrize("header", HEADERS)
def test_header_stands_alone(header):
    compile_source(
        f"#include <{header}>\n#include <{header}>\n__global__ void k() {{}}",
        program_name="k.cu",
    )


@pytest.mark.parametrize("header", HEADERS)
def test_macros_of_the_user_do_no_harm(header):
    """`#define N 16` before an `#include` is common, as are T, M and K."""
    macros = "".join(f"#define {letter} 16\n" for letter in string.ascii_uppercase)
    compile_source(
        f"{macros}#include <{header}>\n__global__ void k() {{}}", program_name="k.cu"
    )


# The parts of a 16-bit format, which have no include guard.
PARTS = ("format.h", "type.h", "arithmetic.h", "conversions.h", "warp.h")


def test_private_headers_include_what_they_use(tmp_path):
    folder = toolchain.INCLUDE_DIR
    private = [
        path.relative_to(folder).as_posix()
        for path in (folder / "jrc").rglob("*.h")
        if path.parent.name != "half" or path.name not in PARTS
    ]
    assert len(private) > 20
    for number, header in enumerate([*private, "cuda_fp16.h", "cuda_bf16.h"]):
        (tmp_path / f"{number}.cu").write_text(f"#include <{header}>\n")
    flags = [flag for flag in clang._FLAGS if flag != "-S"]
    includes = [f"-I{folder}", f"-I{toolchain.C_INCLUDE_DIR}"]
    command = [*toolchain.find_clang().command, *flags, "-std=c++17", *includes]
    done = run_command(*command, "-fsyntax-only", *tmp_path.glob("*.cu"), code=None)
    assert done.stderr == ""


def test_math():
    floats = [f"f[{i}] = {name}f(f[0]);" for i, name in enumerate(F1)]
    doubles = [f"d[{i}] = {name}(d[0]);" for i, name in enumerate(F1)]
    overloads = [f"f[{i}] += {name}(f[1]);" for i, name in enumerate(F1)]
    floats += [f"f[{i}] += {name}f(f[0], f[1]);" for i, name in enumerate(F2)]
    doubles += [f"d[{i}] += {name}(d[0], d[1]);" for i, name in enumerate(F2)]
    overloads += [f"f[{i}] += {name}(f[1], f[2]);" for i, name in enumerate(F2)]
    others = statements("math")
    lines = floats + doubles + overloads + others
    compile_kernel("float* f, double* d, int* n", lines, ["cmath"])


def test_intrinsics():
    lines = [f"d[{i}] += {name}(d[{i}]);" for i, name in enumerate(CONVERSIONS)]
    for r in ROUNDS:
        for op in ("add", "sub", "mul", "div"):
            lines.append(f"f[0] += __f{op}_{r}(f[1], f[2]);")
            lines.append(f"d[0] += __d{op}_{r}(d[1], d[2]);")
        lines.append(f"f[0] += __fmaf_{r}(f[1], f[2], f[3]) + __frcp_{r}(f[0]);")
        lines.append(f"d[0] += __fma_{r}(d[1], d[2], d[3]) + __drcp_{r}(d[0]);")
        lines.append(f"f[0] += __fsqrt_{r}(f[1]); d[0] += __dsqrt_{r}(d[1]);")
    lines += [
        f"f[0] += __{name}f(f[0]);"
        for name in words("cos sin tan exp exp10 log log2 log10")
    ]
    lines += [f"u[{i}] = {name}(u[0], u[1]);" for i, name in enumerate(SIMD)]
    lines += [
        f"u[0] += __v{name}{w}(u[1]);"
        for name in ("abs", "absss", "neg", "negss")
        for w in (2, 4)
    ]
    lines += statements("intrinsics")
    compile_kernel(
        "float* f, double* d, int* n, unsigned* u, long long* q",
        lines,
    )


def test_warp_and_block():
    values = (
        "int",
        "unsigned",
        "long",
        "unsigned long",
        "long long",
        "unsigned long long",
        "float",
        "double",
    )
    lines = []
    for t in values:
        cast = f"*({t}*)p"
        for name in (
            "__shfl_sync",
            "__shfl_up_sync",
            "__shfl_down_sync",
            "__shfl_xor_sync",
        ):
            lines.append(
                f"{cast} = {name}(~0u, {cast}, 3); {cast} = {name}(~0u, {cast}, 1, 16);"
            )
        lines.append(f"*(unsigned*)p = __match_any_sync(~0u, {cast});")
        lines.append(f"*(unsigned*)p = __match_all_sync(~0u, {cast}, (int*)p);")
    for t in ("int", "unsigned"):
        lines += [
            f"*({t}*)p = __reduce_{op}_sync(~0u, *({t}*)p);"
            for op in ("add", "min", "max")
        ]
    lines += [
        f"*(unsigned*)p = __reduce_{op}_sync(~0u, 5u);" for op in ("and", "or", "xor")
    ]
    lines += statements("warp_and_block")
    compile_kernel("void* p", lines)


def test_atomics():
    lines = []
    for t in ("int", "unsigned", "long long", "unsigned long long"):
        for s in SCOPES:
            p, v = f"({t}*)p", f"({t})3"
            lines += [
                f"atomic{op}{s}({p}, {v});"
                for op in words("Add Sub Min Max And Or Xor Exch")
            ]
            lines.append(f"atomicCAS{s}({p}, {v}, ({t})4);")
    for s in SCOPES:
        lines += [f"atomicInc{s}((unsigned*)p, 7u); atomicDec{s}((unsigned*)p, 7u);"]
        lines += [f"atomicAdd{s}(({t}*)p, ({t})1.5);" for t in ("float", "double")]
        lines += [f"atomicExch{s}((float*)p, 1.5f);"]
    lines.append(
        "atomicAdd((float2*)p, float2{1, 2}); atomicAdd((float4*)p, float4{});"
    )
    compile_kernel("void* p", lines)


@pytest.mark.parametrize(
    ("header", "t", "t2", "n", "n2"),
    [
        ("cuda_fp16.h", "__half", "__half2", "half", "half2"),
        ("cuda_bf16.h", "__nv_bfloat16", "__nv_bfloat162", "bfloat16", "bfloat162"),
    ],
    ids=["half", "bfloat16"],
)
def test_sixteen_bit(header, t, t2, n, n2):
    lines = [
        f"h[0] = {f}(h[1]); p[0] = {pair_name(f[2:])}(p[1]);"
        for f in (f"__{g}" for g in HALF_1)
    ]
    lines += [
        f"h[0] = __{f}(h[1], h[2]); p[0] = {pair_name(f)}(p[1], p[2]);" for f in HALF_2
    ]
    lines += [
        f"h[0] = __{f}(h[1], h[2], h[3]); p[0] = {pair_name(f)}(p[1], p[2], p[3]);"
        for f in HALF_3
    ]
    lines += [f"h[0] = h{f}(h[1]); p[0] = h2{f}(p[1]);" for f in HALF_MATH]
    for c in COMPARE:
        lines.append(f"i[0] += __h{c}(h[0], h[1]) + __hb{c}2(p[0], p[1]);")
        lines.append(f"p[2] = __h{c}2(p[0], p[1]); i[1] = __h{c}2_mask(p[0], p[1]);")
    for r in ROUNDS:
        lines.append(f"h[0] = __float2{n}_{r}(f[0]);")
        for word in ("int", "uint", "short", "ushort", "ll", "ull"):
            lines.append(
                f"i[0] = (int)__{n}2{word}_{r}(h[0]); h[0] = __{word}2{n}_{r}(i[0]);"
            )
    for shuffle in ("", "_up", "_down", "_xor"):
        lines.append(f"h[0] = __shfl{shuffle}_sync(~0u, h[0], 1);")
        lines.append(f"p[0] = __shfl{shuffle}_sync(~0u, p[0], 1);")
    lines += statements("sixteen_bit", N2=n2, N=n)
    ptx = compile_kernel(f"{t}* h, {t2}* p, float* f, int* i", lines, [header])
    assert "fma.rn.f16" in ptx or "fma.rn.bf16" in ptx


@pytest.mark.skipif(not cccl_include_dirs(), reason="needs the CCCL package")
@pytest.mark.parametrize(
    "header",
    words(
        """cuda/std/array cuda/std/complex cuda/std/atomic cuda/std/span cuda/std/tuple
    cuda/std/limits cuda/std/type_traits cuda/std/cmath cuda/std/cstdint cuda/std/mdspan
    cuda/std/optional cuda/std/bit cuda/std/functional cuda/atomic cuda/barrier
    cuda/pipeline cuda/ptx cub/block/block_reduce.cuh cub/block/block_scan.cuh
    cub/warp/warp_reduce.cuh"""
    ),
)
def test_cccl_header(header):
    compile_source(
        f"#include <{header}>\n__global__ void k() {{}}", program_name="k.cu"
    )
