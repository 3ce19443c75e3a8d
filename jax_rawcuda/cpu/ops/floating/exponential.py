"""Powers of 2 and e in f32, as plain arithmetic that LLVM can vectorise.

The argument is split into an integer n, which goes to the exponent's bits, and a small
rest for a polynomial.
"""

from __future__ import annotations

from . import library
from .rounding import NAN

# 2^f = 1 + f * (...), highest power first. The error is below 2^-27.
_POWERS_OF_TWO = (
    "0x3F23EB2A00000000",  # 0.000151966931
    "0x3F55F0B860000000",  # 0.00133913045
    "0x3F83B320A0000000",  # 0.00961900223
    "0x3FAC6AF760000000",  # 0.0555035882
    "0x3FCEBFBD60000000",  # 0.240226433
    "0x3FE62E4300000000",  # 0.693147182
)


# e^r = 1 + r + r^2 * (...) for |r| <= log(2) / 2, to below 2^-28.
_EXPONENTIAL = (
    "0x3F56A23CE0000000",  # 0.00138145394
    "0x3F8123A200000000",  # 0.00836874545
    "0x3FA5558F20000000",  # 0.041668389
    "0x3FC5554920000000",  # 0.166665211
    "0x3FDFFFFFC0000000",  # 0.49999994
)


def _polynomial(coefficients: tuple[str, ...], variable: str) -> str:
    """Writes Horner's rule; the value is `%p`."""
    lines, value = [], coefficients[0]
    for index, coefficient in enumerate(coefficients[1:]):
        name = "%p" if index == len(coefficients) - 2 else f"%p{index}"
        lines.append(
            f"  {name} = call float @llvm.fma.f32"
            f"(float {value}, float {variable}, float {coefficient})"
        )
        value = name
    return "\n".join(lines)


_ROUND = "0x4168000000000000"  # 1.5 * 2^23: adding it rounds to an integer
_ROUND_BITS = 0x4B400000
_LOG2_E = "0x3FF7154760000000"
_LN2_HIGH, _LN2_LOW = "0x3FE62E4300000000", "0xBE205C6100000000"
library.add(f"""
define float @jrc.ex2.normal(float %x) {{
  %shifted = fadd float %x, {_ROUND}
  %n = fsub float %shifted, {_ROUND}
  %f = fsub float %x, %n
{_polynomial((*_POWERS_OF_TWO, "1.0"), "%f")}
  %integer = bitcast float %shifted to i32
  %exponent = shl i32 %integer, 23
  %pbits = bitcast float %p to i32
  %bits = add i32 %pbits, %exponent
  %result = bitcast i32 %bits to float
  ret float %result
}}
define float @jrc.ex2.limit(float %x, float %value) {{
  %large = fcmp oge float %x, 128.0
  %r = select i1 %large, float 0x7FF0000000000000, float %value
  %nan = fcmp uno float %x, %x
  %result = select i1 %nan, float {NAN["f32"]}, float %r
  ret float %result
}}
define float @jrc.ex2.ftz(float %x) {{
  %y = call float @jrc.ex2.normal(float %x)
  %small = fcmp olt float %x, -126.0
  %flushed = select i1 %small, float 0.0, float %y
  %result = call float @jrc.ex2.limit(float %x, float %flushed)
  ret float %result
}}
define float @jrc.ex2(float %x) {{
  %small = fcmp olt float %x, -126.0
  %raised = fadd float %x, 24.0
  %xs = select i1 %small, float %raised, float %x
  %y = call float @jrc.ex2.normal(float %xs)
  %scaled = fmul float %y, 0x3E70000000000000
  %r = select i1 %small, float %scaled, float %y
  %tiny = fcmp ole float %x, -150.0
  %flushed = select i1 %tiny, float 0.0, float %r
  %result = call float @jrc.ex2.limit(float %x, float %flushed)
  ret float %result
}}
define float @jrc.exp(float %x) {{
  %low = fcmp ogt float %x, -104.0
  %x1 = select i1 %low, float %x, float -104.0
  %high = fcmp olt float %x1, 89.0
  %y = select i1 %high, float %x1, float 89.0
  %shifted = call float @llvm.fma.f32(float %y, float {_LOG2_E}, float {_ROUND})
  %n = fsub float %shifted, {_ROUND}
  %minus = fneg float %n
  %r0 = call float @llvm.fma.f32(float %minus, float {_LN2_HIGH}, float %y)
  %r = call float @llvm.fma.f32(float %minus, float {_LN2_LOW}, float %r0)
{_polynomial((*_EXPONENTIAL, "1.0", "1.0"), "%r")}
  %integer = bitcast float %shifted to i32
  %count = sub i32 %integer, {_ROUND_BITS}
  %half = ashr i32 %count, 1
  %rest = sub i32 %count, %half
  %e0 = add i32 %half, 127
  %e1 = add i32 %rest, 127
  %b0 = shl i32 %e0, 23
  %b1 = shl i32 %e1, 23
  %s0 = bitcast i32 %b0 to float
  %s1 = bitcast i32 %b1 to float
  %part = fmul float %p, %s0
  %result = fmul float %part, %s1
  %nan = fcmp uno float %x, %x
  %final = select i1 %nan, float {NAN["f32"]}, float %result
  ret float %final
}}
""")
# Calls of the C library that are written out instead.
INLINE = {"expf": "jrc.exp", "exp2f": "jrc.ex2"}
# Approximations with a form of their own that flushes subnormal results.
FLUSHING = {"ex2": "jrc.ex2.ftz"}
