"""Exact rounding as library functions: half types, and the directed modes of f32.

No function touches the processor's rounding mode. A directed result is the rounded one,
moved by one unit when a comparison with the exact value (a double and the sign of its
error) says so. `half` and `bfloat16` values are handled as their 16 bits.
"""

from __future__ import annotations

from . import library

DIRECTED = ("rm", "rp", "rz")
ROUNDINGS = ("rn", *DIRECTED)
# Canonical NaNs, as LLVM writes them.
NAN = {"f32": "0x7FFFFFFFE0000000", "f64": "0x7FFFFFFFFFFFFFFF"}
NAN_16 = 0x7FFF

# Through a float rounded to odd, a double becomes a 16-bit float with one rounding.
library.add(f"""
define float @jrc.odd(double %x) {{
  %near = fptrunc double %x to float
  %wide = fpext float %near to double
  %size = call double @llvm.fabs.f64(double %x)
  %near.size = call double @llvm.fabs.f64(double %wide)
  %bits = bitcast float %near to i32
  %beyond = fcmp ogt double %near.size, %size
  %down = sext i1 %beyond to i32
  %cut = add i32 %bits, %down
  %inexact = fcmp one double %wide, %x
  %sticky = zext i1 %inexact to i32
  %odd = or i32 %cut, %sticky
  %result = bitcast i32 %odd to float
  ret float %result
}}
define float @jrc.widen.f16(i16 %x) {{
  %half = bitcast i16 %x to half
  %result = fpext half %half to float
  ret float %result
}}
define float @jrc.widen.bf16(i16 %x) {{
  %bits = zext i16 %x to i32
  %high = shl i32 %bits, 16
  %result = bitcast i32 %high to float
  ret float %result
}}
define i16 @jrc.narrow.f16(float %x) {{
  %half = fptrunc float %x to half
  %bits = bitcast half %half to i16
  %nan = fcmp uno float %x, %x
  %result = select i1 %nan, i16 {NAN_16}, i16 %bits
  ret i16 %result
}}
define i16 @jrc.narrow.bf16(float %x) {{
  %bits = bitcast float %x to i32
  %kept = lshr i32 %bits, 16
  %even = and i32 %kept, 1
  %bias = add i32 %even, 32767
  %rounded = add i32 %bits, %bias
  %high = lshr i32 %rounded, 16
  %cut = trunc i32 %high to i16
  %nan = fcmp uno float %x, %x
  %result = select i1 %nan, i16 {NAN_16}, i16 %cut
  ret i16 %result
}}
define i16 @jrc.round.f16(double %x) {{
  %odd = call float @jrc.odd(double %x)
  %result = call i16 @jrc.narrow.f16(float %odd)
  ret i16 %result
}}
define i16 @jrc.round.bf16(double %x) {{
  %odd = call float @jrc.odd(double %x)
  %result = call i16 @jrc.narrow.bf16(float %odd)
  ret i16 %result
}}
""")

# Per direction: when the result is too large or too small (`%up`, `%down`, or by size),
# and what to add to its bits.
_DIRECTIONS = {
    "rm": ("%up", "select i1 %neg, iW 1, iW -1", "MIN1"),
    "rp": ("%down", "select i1 %neg, iW -1, iW 1", "1"),
    "rz": ("%outward", "select i1 true, iW -1, iW -1", "%bits"),
}


def _add_nudge(mode: str, width: int) -> None:
    """Adds jrc.nudge: moves a rounded value's bits by one unit if it must be."""
    wrong, step, from_zero = _DIRECTIONS[mode]
    smallest_negative = str(1 - (1 << width - 1))
    library.add(
        f"""
define iW @jrc.nudge.{mode}.iW(iW %bits, i1 %up, i1 %down) {{
  %neg = icmp slt iW %bits, 0
  %outward = select i1 %neg, i1 %down, i1 %up
  %step = {step}
  %moved = add iW %bits, %step
  %twice = shl iW %bits, 1
  %zero = icmp eq iW %twice, 0
  %next = select i1 %zero, iW {from_zero}, iW %moved
  %result = select i1 {wrong}, iW %next, iW %bits
  ret iW %result
}}
""".replace("MIN1", smallest_negative).replace("iW", f"i{width}")
    )


# LLVM text that rounds %x to a type's bits to nearest, and widens them again.
_NEAREST = {
    "f32": (
        "%near = fptrunc double %x to float\n"
        "  %bits = bitcast float %near to i32\n"
        "  %wide = fpext float %near to double",
        32,
    ),
    **{
        kind: (
            f"%bits = call i16 @jrc.round.{kind}(double %x)\n"
            f"  %near = call float @jrc.widen.{kind}(i16 %bits)\n"
            "  %wide = fpext float %near to double",
            16,
        )
        for kind in ("f16", "bf16")
    },
}


def _add_directed(mode: str, kind: str) -> None:
    """Adds jrc.round.MODE.TYPE: rounds x + error; |error| is below x's last bit."""
    nearest, width = _NEAREST[kind]
    library.add(f"""
define i{width} @jrc.round.{mode}.{kind}(double %x, double %error) {{
  {nearest}
  %above = fcmp ogt double %wide, %x
  %below = fcmp olt double %wide, %x
  %same = fcmp oeq double %wide, %x
  %negative = fcmp olt double %error, 0.0
  %positive = fcmp ogt double %error, 0.0
  %same.above = and i1 %same, %negative
  %same.below = and i1 %same, %positive
  %up = or i1 %above, %same.above
  %down = or i1 %below, %same.below
  %r = call i{width} @jrc.nudge.{mode}.i{width}(i{width} %bits, i1 %up, i1 %down)
  ret i{width} %r
}}
""")


# The exact error of a sum of doubles (Knuth), and the sum rounded to odd.
library.add("""
define double @jrc.sum.error(double %a, double %b, double %sum) {
  %part = fsub double %sum, %a
  %rest = fsub double %sum, %part
  %da = fsub double %a, %rest
  %db = fsub double %b, %part
  %error = fadd double %da, %db
  ret double %error
}
define double @jrc.sum.odd(double %a, double %b) {
  %sum = fadd double %a, %b
  %error = call double @jrc.sum.error(double %a, double %b, double %sum)
  %bits = bitcast double %sum to i64
  %inexact = fcmp one double %error, 0.0
  %negative = fcmp olt double %error, 0.0
  %positive = fcmp ogt double %sum, 0.0
  %same = xor i1 %negative, %positive
  %opposite = xor i1 %same, true
  %beyond = and i1 %inexact, %opposite
  %down = sext i1 %beyond to i64
  %cut = add i64 %bits, %down
  %sticky = zext i1 %inexact to i64
  %odd = or i64 %cut, %sticky
  %result = bitcast i64 %odd to double
  ret double %result
}
""")

# Exact f32 arithmetic in double: value and error of each operation.
_OPERATIONS = {
    "mul": ("float %a, float %b", "%x = fmul double %A, %B", "0.0"),
    "add": (
        "float %a, float %b",
        "%x = fadd double %A, %B\n"
        "  %e = call double @jrc.sum.error(double %A, double %B, double %x)",
        "%e",
    ),
    "fma": (
        "float %a, float %b, float %c",
        "%C = fpext float %c to double\n"
        "  %p = fmul double %A, %B\n"
        "  %x = fadd double %p, %C\n"
        "  %e = call double @jrc.sum.error(double %p, double %C, double %x)",
        "%e",
    ),
    "div": (
        "float %a, float %b",
        "%x = fdiv double %A, %B\n"
        "  %n = fneg double %x\n"
        "  %rest = call double @llvm.fma.f64(double %n, double %B, double %A)\n"
        "  %one = call double @llvm.copysign.f64(double 1.0, double %B)\n"
        "  %e = fmul double %rest, %one",
        "%e",
    ),
    "sqrt": (
        "float %a",
        "%x = call double @llvm.sqrt.f64(double %A)\n"
        "  %n = fneg double %x\n"
        "  %e = call double @llvm.fma.f64(double %n, double %x, double %A)",
        "%e",
    ),
}
# Rounding down, an exact zero sum is -0 unless both terms are +0.
_ZERO_SIGNS = {
    "add": ("bitcast double %A to i64", "bitcast double %B to i64"),
    "fma": ("bitcast double %p to i64", "bitcast double %C to i64"),
}


def _add_operation(mode: str, name: str) -> None:
    parameters, text, error = _OPERATIONS[name]
    wide = "" if name == "sqrt" else "%B = fpext float %b to double"
    fix = "%result = bitcast i32 %bits to float"
    if mode == "rm" and name in _ZERO_SIGNS:
        first, second = _ZERO_SIGNS[name]
        fix = f"""%sa = {first}
  %sb = {second}
  %s = or i64 %sa, %sb
  %minus = icmp slt i64 %s, 0
  %zero = fcmp oeq double %x, 0.0
  %fix = and i1 %minus, %zero
  %fixed = select i1 %fix, i32 -2147483648, i32 %bits
  %result = bitcast i32 %fixed to float"""
    library.add(f"""
define float @jrc.{name}.{mode}.f32({parameters}) {{
  %A = fpext float %a to double
  {wide}
  {text}
  %bits = call i32 @jrc.round.{mode}.f32(double %x, double {error})
  {fix}
  ret float %result
}}
""")


for _mode in _DIRECTIONS:
    for _width in (16, 32, 64):
        _add_nudge(_mode, _width)
    for _kind in _NEAREST:
        _add_directed(_mode, _kind)
    for _name in _OPERATIONS:
        _add_operation(_mode, _name)
