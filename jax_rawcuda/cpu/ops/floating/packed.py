"""Conversions to and from pairs, eight-bit floats and tf32."""

from __future__ import annotations

from ...emit.emitter import Emitter
from ...ptx.instruction import Instruction
from ..common import join, lanes
from . import floats, halves, library
from .rounding import DIRECTED

EIGHT_BITS = ("e4m3x2", "e5m2x2")
library.add("""
define float @jrc.relu.f32(float %x) {
  %negative = fcmp olt float %x, 0.0
  %zero = fcmp oeq float %x, 0.0
  %clamp = or i1 %negative, %zero
  %result = select i1 %clamp, float 0.0, float %x
  ret float %result
}
""")
# Keeping the upper 19 bits of a float.
_TF32 = {
    "rna": ("add i32 %bits, 4096", "and i32 %bits, -1"),
    "rn": ("add i32 %bits, 4095", "lshr i32 %bits, 13"),
    "rz": ("add i32 %bits, 0", "and i32 %bits, 0"),
}
for _mode, (_bias, _even) in _TF32.items():
    _last = "%last" if _mode == "rn" else "0"
    library.add(f"""
define i32 @jrc.tf32.{_mode}(float %x) {{
  %bits = bitcast float %x to i32
  %biased = {_bias}
  %even = {_even}
  %last = and i32 %even, 1
  %rounded = add i32 %biased, {_last}
  %nan = fcmp uno float %x, %x
  %whole = select i1 %nan, i32 %bits, i32 %rounded
  %result = and i32 %whole, -8192
  ret i32 %result
}}
""")


def to_pair(em: Emitter, inst: Instruction, target: str) -> None:
    """Converts two f32 to a pair; the first source becomes the upper half."""
    mode = inst.pick(*DIRECTED)
    parts = []
    for operand in (inst.operands[2], inst.operands[1]):
        value = em.get(operand, "float")
        if inst.has("ftz"):
            value = floats.flush(em, "float", value)
        if mode is None:
            bits = library.invoke(em, f"jrc.narrow.{target}", value)
        else:
            wide = em.op(f"fpext float {value} to double")
            bits = library.invoke(em, f"jrc.round.{mode}.{target}", wide, "0.0")
            bits = library.invoke(em, f"jrc.canonical.{target}", bits)
        parts.append(halves.finish(em, inst, target, bits))
    em.set(inst.operands[0], "i32", join(em, parts, 16))


def to_tf32(em: Emitter, inst: Instruction) -> None:
    """Rounds an f32 to 11 bits of precision, in the upper bits of an f32."""
    value = em.get(inst.operands[1], "float")
    if inst.has("relu"):
        value = library.invoke(em, "jrc.relu.f32", value)
    mode = inst.pick(*_TF32)
    if mode is None or inst.has("satfinite"):
        raise em.unsupported(inst)
    em.set(inst.operands[0], "i32", library.invoke(em, f"jrc.tf32.{mode}", value))


# Eight-bit floats, always in pairs


def to_eight_bits(em: Emitter, inst: Instruction, target: str, source: str) -> None:
    """Converts two values to eight-bit floats; the first becomes the upper byte."""
    if source == "f32":
        high, low = (em.get(operand, "float") for operand in inst.operands[1:3])
    elif source in ("f16x2", "bf16x2"):
        kind = halves.format_of(source)
        parts = halves.read(em, inst.operands[1], source)
        low, high = (library.invoke(em, f"jrc.widen.{kind}", part) for part in parts)
    else:
        raise em.unsupported(inst)
    values = [high, low]
    if inst.has("relu"):
        values = [library.invoke(em, "jrc.relu.f32", value) for value in values]
    arguments = [("float", value) for value in values]
    bits = em.intrinsic(f"jrc_cvt_{target}_f32", "i16", *arguments)
    em.set(inst.operands[0], "i16", bits)


def from_eight_bits(em: Emitter, inst: Instruction, target: str, source: str) -> None:
    """Converts two eight-bit floats to a pair of f16."""
    if target != "f16x2":
        raise em.unsupported(inst)
    argument = ("i16", em.get(inst.operands[1], "i16"))
    bits = em.intrinsic(f"jrc_cvt_f16x2_{source}", "i32", argument)
    parts = lanes(em, bits, 2, 16)
    if inst.has("relu"):
        parts = [library.invoke(em, "jrc.relu.f16", part) for part in parts]
    halves.write(em, inst.operands[0], parts)
