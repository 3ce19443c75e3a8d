"""Approximate functions, at least as accurate as the device's."""

from __future__ import annotations

from ..emitter import Emitter
from ..operands import Instruction
from . import floats, halves, library
from ._common import Handler, require
from .rounding import NAN

# 2^x for f32: x = n + f with |f| <= 1/2, a polynomial for 2^f, and n added to the
# exponent's bits. Plain arithmetic, so that LLVM can vectorise it. Below -126 x is
# raised by 24 and the result scaled back; the fused form flushes there.
_COEFFICIENTS = (
    "0x3F23EB2A00000000",  # 0.000151966931
    "0x3F55F0B860000000",  # 0.00133913045
    "0x3F83B320A0000000",  # 0.00961900223
    "0x3FAC6AF760000000",  # 0.0555035882
    "0x3FCEBFBD60000000",  # 0.240226433
    "0x3FE62E4300000000",  # 0.693147182
)


def _polynomial() -> str:
    lines, value = [], _COEFFICIENTS[0]
    for index, coefficient in enumerate((*_COEFFICIENTS[1:], "1.0")):
        lines.append(
            f"  %p{index} = call float @llvm.fma.f32"
            f"(float {value}, float %f, float {coefficient})"
        )
        value = f"%p{index}"
    return "\n".join([*lines, f"  %p = bitcast float {value} to i32"])


_ROUND = "0x4168000000000000"  # 1.5 * 2^23: adding it rounds to an integer
library.add(f"""
define float @jrc.ex2.normal(float %x) {{
  %shifted = fadd float %x, {_ROUND}
  %n = fsub float %shifted, {_ROUND}
  %f = fsub float %x, %n
{_polynomial()}
  %integer = bitcast float %shifted to i32
  %exponent = shl i32 %integer, 23
  %bits = add i32 %p, %exponent
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
define float @jrc.lg2(float %x) {{
  %r = call float @llvm.log2.f32(float %x)
  ret float %r
}}
define float @jrc.sin(float %x) {{
  %r = call float @llvm.sin.f32(float %x)
  ret float %r
}}
define float @jrc.cos(float %x) {{
  %r = call float @llvm.cos.f32(float %x)
  ret float %r
}}
define float @jrc.tanh(float %x) {{
  %r = call float @tanhf(float %x)
  ret float %r
}}
""")
_FLUSHING = {"ex2": "jrc.ex2.ftz"}


def _approximate(name: str) -> Handler:
    def emit(em: Emitter, inst: Instruction) -> None:
        require(em, inst, "approx", "ftz")
        function = f"jrc.{name}"
        if inst.has("ftz") and inst.type == "f32":
            function = _FLUSHING.get(name, function)

        def compute(em: Emitter, kind: str, values: list[str]) -> str:
            del kind
            return library.invoke(em, function, values[0])

        if inst.type in halves.TYPES:
            halves.through_f32(em, inst, compute)
        elif inst.type == "f32":
            floats.apply(em, inst, compute)
        else:
            raise em.unsupported(inst)

    return emit


OPCODES: dict[str, Handler] = {
    name: _approximate(name) for name in ("ex2", "lg2", "sin", "cos", "tanh")
}
