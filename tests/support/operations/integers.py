"""Operations of integers."""

from __future__ import annotations

from support.operations.operation import COMPARISONS, Operation, bits_of, each, family
from support.words import TYPES

# Unsigned arithmetic in the wide types, so that nothing overflows in C++.
_BINARY = """
add: ($T)(($U)a + ($U)b)
sub: ($T)(($U)a - ($U)b)
mul: ($T)(($U)a * ($U)b)
div: b == 0 || (b == ($T)-1 && a == ($T)(($U)1 << ($w - 1))) ? a : ($T)(a / b)
rem: b == 0 || (b == ($T)-1 && a == ($T)(($U)1 << ($w - 1))) ? b : ($T)(a % b)
and: a & b
or: a | b
xor: a ^ b
smaller: a < b ? a : b
larger: a > b ? a : b
shift left: ($T)(($U)a << (b & ($w - 1)))
shift right: ($T)(a >> (b & ($w - 1)))
"""
_INTRINSICS = {
    ("s32", "u32"): "popc: __popc(a)",
    ("s32", "u64"): "popcll: __popcll(a)",
    ("s32", "s32"): "clz: __clz(a)\nffs: __ffs(a)\nabs: abs(a == INT_MIN ? 0 : a)",
    ("s32", "s64"): "clzll: __clzll(a)\nffsll: __ffsll(a)",
    ("u32", "u32"): "brev: __brev(a)",
    ("u64", "u64"): "brevll: __brevll(a)",
    ("s32", "s32 s32"): """
mulhi: __mulhi(a, b)
mul24: __mul24(a, b)
hadd: __hadd(a, b)
rhadd: __rhadd(a, b)
min: min(a, b)
max: max(a, b)
vimax_relu: __vimax_s32_relu(a, b)
vimin_relu: __vimin_s32_relu(a, b)
""",
    ("u32", "u32 u32"): """
umulhi: __umulhi(a, b)
umul24: __umul24(a, b)
uhadd: __uhadd(a, b)
urhadd: __urhadd(a, b)
umin: umin(a, b)
umax: umax(a, b)
""",
    ("s64", "s64 s64"): "mul64hi: __mul64hi(a, b)\nllmin: llmin(a, b)",
    ("u64", "u64 u64"): "umul64hi: __umul64hi(a, b)\nullmax: ullmax(a, b)",
    ("u32", "u32 u32 u32"): """
byte_perm: __byte_perm(a, b, c)
funnelshift_l: __funnelshift_l(a, b, c)
funnelshift_lc: __funnelshift_lc(a, b, c)
funnelshift_r: __funnelshift_r(a, b, c)
funnelshift_rc: __funnelshift_rc(a, b, c)
usad: __usad(a, b, c)
dp4a: __dp4a(a, b, c)
dp2a_lo: __dp2a_lo(a, b, c)
dp2a_hi: __dp2a_hi(a, b, c)
vimax3: __vimax3_u32(a, b, c)
viaddmax: __viaddmax_u32(a, b, c)
fns: __fns(a, b & 31, (int)(c % 65) - 32)
""",
    ("s32", "s32 s32 s32"): """
dp4a: __dp4a(a, b, c)
dp2a_lo: __dp2a_lo(a, b, c)
dp2a_hi: __dp2a_hi(a, b, c)
vimin3: __vimin3_s32(a, b, c)
viaddmin_relu: __viaddmin_s32_relu(a, b, c)
""",
    ("u32", "s32 s32 u32"): "sad: __sad(a, b, c)",
}
_SIMD = tuple(
    f"{name}{lanes}"
    for lanes in (2, 4)
    for name in (
        *("vadd", "vsub", "vaddss", "vsubss", "vaddus", "vsubus", "vavgs", "vavgu"),
        *("vhaddu", "vmaxs", "vmaxu", "vmins", "vminu", "vabsdiffs", "vabsdiffu"),
        *("vcmpeq", "vcmpne", "vcmpges", "vcmpgeu", "vcmpgts", "vcmpgtu", "vcmples"),
        *("vcmpleu", "vcmplts", "vcmpltu", "vseteq", "vsetne", "vsetges", "vsetgeu"),
        *("vsetgts", "vsetgtu", "vsetles", "vsetleu", "vsetlts", "vsetltu"),
        *("vsads", "vsadu"),
    )
)
_SIMD_UNARY = tuple(
    f"{n}{k}" for k in (2, 4) for n in ("vabs", "vabsss", "vneg", "vnegss")
)


def _arithmetic(t: str) -> list[Operation]:
    type_ = TYPES[t]
    wide = "unsigned long long" if type_.width == 64 else "unsigned int"
    words = {"T": type_.c, "U": wide, "w": str(type_.width)}
    return [
        *family(t, f"{t} {t}", _BINARY, **words),
        *family("s32", f"{t} {t}", f"orders: {bits_of(*COMPARISONS)}"),
        *family(t, t, "not: ($T)~a\nneg: ($T)(0 - ($U)a)\nis zero: ($T)!a", **words),
    ]


def _casts() -> list[Operation]:
    names = [name for name in TYPES if name[0] in "su" and name[1:].isdigit()]
    return [
        operation
        for source in names
        for target in names
        for operation in family(
            target, source, f"cast to {target}: ({TYPES[target].c})a"
        )
        if source != target
    ]


INTEGER_OPERATIONS = [
    *(
        o
        for t in ("s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64")
        for o in _arithmetic(t)
    ),
    *(
        o
        for (result, of), text in _INTRINSICS.items()
        for o in family(result, of, text)
    ),
    *_casts(),
    *family("u32", "u32 u32", each("$n: __$n(a, b)", n=_SIMD)),
    *family("u32", "u32", each("$n: __$n(a)", n=_SIMD_UNARY)),
]
