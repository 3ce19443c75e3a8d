"""Arithmetic of f16 and bf16, single and in pairs, with one rounding per operation.

Values are handled as their 16 bits. Sums and products of f16 are computed in f32, whose
second rounding is known to be harmless; the rest is computed in f64 and rounded once.
"""

from __future__ import annotations

from ...emit.emitter import Emitter
from ...ptx.instruction import Instruction, require
from ...ptx.operands import Operand
from ..common import Handler, join, lanes
from . import floats, library

TYPES = frozenset({"f16", "f16x2", "bf16", "bf16x2"})
_FUSED = ("rn", "ftz", "sat", "relu", "noftz")

# Bits of the format: exponent mask and one.
_FORMATS = {"f16": (0x7C00, 0x3C00), "bf16": (0x7F80, 0x3F80)}
for _name, (_exponent, _one) in _FORMATS.items():
    library.add(f"""
define i16 @jrc.ftz.{_name}(i16 %x) {{
  %exponent = and i16 %x, {_exponent}
  %small = icmp eq i16 %exponent, 0
  %zero = and i16 %x, -32768
  %result = select i1 %small, i16 %zero, i16 %x
  ret i16 %result
}}
define i16 @jrc.sat.{_name}(i16 %x) {{
  %positive = call i16 @llvm.smax.i16(i16 %x, i16 0)
  %result = call i16 @llvm.umin.i16(i16 %positive, i16 {_one})
  %nan = icmp ugt i16 %positive, {_exponent}
  %number = select i1 %nan, i16 0, i16 %result
  ret i16 %number
}}
define i16 @jrc.canonical.{_name}(i16 %x) {{
  %size = and i16 %x, 32767
  %nan = icmp ugt i16 %size, {_exponent}
  %result = select i1 %nan, i16 32767, i16 %x
  ret i16 %result
}}
define i16 @jrc.satfinite.{_name}(i16 %x) {{
  %size = and i16 %x, 32767
  %infinite = icmp eq i16 %size, {_exponent}
  %largest = sub i16 %x, 1
  %result = select i1 %infinite, i16 %largest, i16 %x
  ret i16 %result
}}
define i16 @jrc.relu.{_name}(i16 %x) {{
  %number = call i16 @jrc.canonical.{_name}(i16 %x)
  %result = call i16 @llvm.smax.i16(i16 %number, i16 0)
  ret i16 %result
}}
""")


def format_of(ptx_type: str) -> str:
    """Returns `f16` or `bf16`."""
    return ptx_type.removesuffix("x2")


def lane_count(ptx_type: str) -> int:
    """Returns the number of values in a register of a type."""
    return 2 if ptx_type.endswith("x2") else 1


def read(em: Emitter, operand: Operand, ptx_type: str) -> list[str]:
    """Reads an operand as i16 lanes."""
    count = lane_count(ptx_type)
    return lanes(em, em.get(operand, f"i{16 * count}"), count, 16)


def write(em: Emitter, operand: Operand, parts: list[str]) -> None:
    """Writes i16 lanes to a destination."""
    em.set(operand, f"i{16 * len(parts)}", join(em, parts, 16))


def finish(em: Emitter, inst: Instruction, kind: str, bits: str) -> str:
    """Applies .sat, .satfinite and .relu to 16 bits."""
    for word in ("sat", "satfinite", "relu"):
        if inst.has(word):
            bits = library.invoke(em, f"jrc.{word}.{kind}", bits)
    return bits


def apply(
    em: Emitter, inst: Instruction, compute: floats.Compute, *sources: Operand
) -> None:
    """Computes a result lane by lane from i16 values, with .ftz, .sat and .relu.

    Args:
      em: The emitter.
      inst: The instruction; its first operand is the destination.
      compute: Computes the bits of one lane; its type argument is `f16` or `bf16`.
      *sources: Source operands; all but the first operand by default.
    """
    kind = format_of(inst.type)
    columns = [read(em, operand, inst.type) for operand in sources or inst.operands[1:]]
    if inst.has("ftz"):
        columns = [
            [library.invoke(em, f"jrc.ftz.{kind}", value) for value in column]
            for column in columns
        ]
    results = []
    for values in zip(*columns, strict=True):
        result = compute(em, kind, list(values))
        if inst.has("ftz"):
            result = library.invoke(em, f"jrc.ftz.{kind}", result)
        results.append(finish(em, inst, kind, result))
    write(em, inst.operands[0], results)


def through_f32(em: Emitter, inst: Instruction, compute: floats.Compute) -> None:
    """Computes an operation whose f32 result may be rounded once more."""
    apply(em, inst, _in_f32(compute))


def _in_f32(compute: floats.Compute) -> floats.Compute:
    def lane(em: Emitter, kind: str, values: list[str]) -> str:
        wide = [library.invoke(em, f"jrc.widen.{kind}", value) for value in values]
        return library.invoke(em, f"jrc.narrow.{kind}", compute(em, "float", wide))

    return lane


def _in_f64(compute: floats.Compute) -> floats.Compute:
    def lane(em: Emitter, kind: str, values: list[str]) -> str:
        wide = [library.invoke(em, f"jrc.widen.{kind}", value) for value in values]
        wide = [em.op(f"fpext float {value} to double") for value in wide]
        return library.invoke(em, f"jrc.round.{kind}", compute(em, "double", wide))

    return lane


def _fma(em: Emitter, kind: str, values: list[str]) -> str:
    a, b, c = values
    # A tiny c can break the tie of a bf16 product that is far larger.
    product = em.op(f"fmul {kind} {a}, {b}")
    return library.invoke(em, "jrc.sum.odd", product, c)


def _binary(word: str) -> floats.Compute:
    def compute(em: Emitter, kind: str, values: list[str]) -> str:
        return em.op(f"{word} {kind} {', '.join(values)}")

    return compute


def _mul(em: Emitter, kind: str, values: list[str]) -> str:
    # A product of bf16 can be subnormal in f32, where it would be rounded twice.
    wrap = _in_f64 if kind == "bf16" else _in_f32
    return wrap(_binary("fmul"))(em, kind, values)


def _handler(compute: floats.Compute, *words: str) -> Handler:
    def emit(em: Emitter, inst: Instruction) -> None:
        require(inst, *words)
        apply(em, inst, compute)

    return emit


def _extreme(word: str) -> Handler:
    def emit(em: Emitter, inst: Instruction) -> None:
        require(inst, "ftz", "NaN", "xorsign", "abs")
        name = f"jrc.{word}.nan.f32" if inst.has("NaN") else f"jrc.{word}.f32"

        def choose(em: Emitter, kind: str, values: list[str]) -> str:
            del kind
            first, *rest = values
            for value in rest:
                first = library.invoke(em, name, first, value)
            return first

        def compute(em: Emitter, kind: str, values: list[str]) -> str:
            sizes = values
            if inst.has("abs"):
                sizes = [em.op(f"and i16 {value}, 32767") for value in values]
            result = _in_f32(choose)(em, kind, sizes)
            if inst.has("xorsign"):
                result = _with_product_sign(em, result, values)
                result = library.invoke(em, f"jrc.canonical.{kind}", result)
            return result

        apply(em, inst, compute)

    return emit


def _with_product_sign(em: Emitter, size: str, values: list[str]) -> str:
    sign = values[0]
    for other in values[1:]:
        sign = em.op(f"xor i16 {sign}, {other}")
    return em.op(f"or i16 {size}, {em.op(f'and i16 {sign}, -32768')}")


def _neg(em: Emitter, kind: str, values: list[str]) -> str:
    negative = em.op(f"xor i16 {values[0]}, -32768")
    return library.invoke(em, f"jrc.canonical.{kind}", negative)


def _abs(em: Emitter, kind: str, values: list[str]) -> str:
    size = em.op(f"and i16 {values[0]}, 32767")
    return library.invoke(em, f"jrc.canonical.{kind}", size)


OPCODES: dict[str, Handler] = {
    "add": _handler(_in_f32(_binary("fadd")), *_FUSED),
    "sub": _handler(_in_f32(_binary("fsub")), *_FUSED),
    "mul": _handler(_mul, *_FUSED),
    "fma": _handler(_in_f64(_fma), *_FUSED),
    "min": _extreme("min"),
    "max": _extreme("max"),
    "neg": _handler(_neg, "ftz"),
    "abs": _handler(_abs, "ftz"),
}
