"""Library functions of f32 and f64: flushing, saturating, the one NaN, extremes."""

from __future__ import annotations

from . import library
from .rounding import NAN

_SMALLEST_NORMAL = {"f32": "0x3810000000000000", "f64": "0x0010000000000000"}
for _suffix, _type in (("f32", "float"), ("f64", "double")):
    library.add(f"""
define {_type} @jrc.ftz.{_suffix}({_type} %x) {{
  %size = call {_type} @llvm.fabs.{_suffix}({_type} %x)
  %small = fcmp olt {_type} %size, {_SMALLEST_NORMAL[_suffix]}
  %zero = call {_type} @llvm.copysign.{_suffix}({_type} 0.0, {_type} %x)
  %result = select i1 %small, {_type} %zero, {_type} %x
  ret {_type} %result
}}
define {_type} @jrc.sat.{_suffix}({_type} %x) {{
  %above = fcmp ogt {_type} %x, 0.0
  %low = select i1 %above, {_type} %x, {_type} 0.0
  %below = fcmp olt {_type} %low, 1.0
  %result = select i1 %below, {_type} %low, {_type} 1.0
  ret {_type} %result
}}
""")
    library.add(f"""
define {_type} @jrc.canonical.{_suffix}({_type} %x) {{
  %nan = fcmp uno {_type} %x, %x
  %result = select i1 %nan, {_type} {NAN[_suffix]}, {_type} %x
  ret {_type} %result
}}
""")
    # -0 is below +0; one NaN gives the other operand, two the canonical NaN.
    for _word, _order, _merge in (("min", "olt", "or"), ("max", "ogt", "and")):
        _bits = "i32" if _type == "float" else "i64"
        library.add(f"""
define {_type} @jrc.{_word}.{_suffix}({_type} %a, {_type} %b) {{
  %first = fcmp {_order} {_type} %a, %b
  %r0 = select i1 %first, {_type} %a, {_type} %b
  %abits = bitcast {_type} %a to {_bits}
  %bbits = bitcast {_type} %b to {_bits}
  %merged = {_merge} {_bits} %abits, %bbits
  %both = bitcast {_bits} %merged to {_type}
  %equal = fcmp oeq {_type} %a, %b
  %r1 = select i1 %equal, {_type} %both, {_type} %r0
  %bnan = fcmp uno {_type} %b, %b
  %r2 = select i1 %bnan, {_type} %a, {_type} %r1
  %nan = fcmp uno {_type} %r2, %r2
  %result = select i1 %nan, {_type} {NAN[_suffix]}, {_type} %r2
  ret {_type} %result
}}
define {_type} @jrc.{_word}.nan.{_suffix}({_type} %a, {_type} %b) {{
  %number = call {_type} @jrc.{_word}.{_suffix}({_type} %a, {_type} %b)
  %nan = fcmp uno {_type} %a, %b
  %result = select i1 %nan, {_type} {NAN[_suffix]}, {_type} %number
  ret {_type} %result
}}
""")
# LLVM takes `x < 0 ? NaN : sqrt(x)` for sqrt(x), but not when it is spelled in bits.
library.add("""
define float @jrc.sqrt.f32(float %x) {
  %root = call float @llvm.sqrt.f32(float %x)
  %bits = bitcast float %root to i32
  %size = and i32 %bits, 2147483647
  %nan = icmp ugt i32 %size, 2139095040
  %whole = select i1 %nan, i32 2147483647, i32 %bits
  %result = bitcast i32 %whole to float
  ret float %result
}
""")
