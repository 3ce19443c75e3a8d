"""Conversions between all types."""

from __future__ import annotations

from ...emit.emitter import Emitter
from ...llvm_types import LLVM_TYPES, SUFFIXES, WIDTHS, is_signed
from ...ptx.instruction import Instruction, require
from ...ptx.operands import Operand
from ..common import Handler, join
from . import floats, halves, library, packed
from .rounding import DIRECTED, ROUNDINGS

_INTEGERS = frozenset(f"{sign}{width}" for sign in "su" for width in (8, 16, 32, 64))
# A modifier that rounds to an integer -> LLVM's function; float to float, and to int.
_INTEGRAL = {"rni": "roundeven", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}
_TO_INTEGER = {
    **_INTEGRAL,
    "rn": "roundeven",
    "rz": "trunc",
    "rm": "floor",
    "rp": "ceil",
}

# A 64-bit integer becomes a double without error, but for a sticky bit that no
# rounding to 24 bits or fewer can tell from the lost ones.
for _sign, _magnitude in (("s", "add i64 %x, 1099511627776"), ("u", "add i64 %x, 0")):
    library.add(f"""
define i64 @jrc.sticky.{_sign}64(i64 %x) {{
  %low = and i64 %x, 65535
  %lost = icmp ne i64 %low, 0
  %bit = select i1 %lost, i64 65536, i64 0
  %high = and i64 %x, -65536
  %odd = or i64 %high, %bit
  %reach = {_magnitude}
  %large = icmp ugt i64 %reach, {1 << 41 if _sign == "s" else 1 << 40}
  %result = select i1 %large, i64 %odd, i64 %x
  ret i64 %result
}}
""")


def _cvt(em: Emitter, inst: Instruction) -> None:
    if inst.has("pack"):
        _pack(em, inst)
        return
    require(
        inst, *_TO_INTEGER, "rna", "ftz", "sat", "satfinite", "relu"
    )  # fmt: skip
    target, source = inst.types[-2:]
    if target in packed.EIGHT_BITS:
        packed.to_eight_bits(em, inst, target, source)
    elif source in packed.EIGHT_BITS:
        packed.from_eight_bits(em, inst, target, source)
    elif target in ("f16x2", "bf16x2") and source == "f32":
        packed.to_pair(em, inst, halves.format_of(target))
    elif target == "tf32":
        packed.to_tf32(em, inst)
    elif target in _INTEGERS and source in _INTEGERS:
        _between_integers(em, inst, target, source)
    elif target in _INTEGERS:
        _float_to_integer(em, inst, target, source)
    elif source in _INTEGERS:
        _integer_to_float(em, inst, target, source)
    else:
        _between_floats(em, inst, target, source)


# Integers


def _between_integers(em: Emitter, inst: Instruction, target: str, source: str) -> None:
    kind, result = LLVM_TYPES[source], LLVM_TYPES[target]
    signed = is_signed(source)
    value = em.get(inst.operands[1], kind, signed)
    if inst.has("sat"):
        value = _clamp(em, value, kind, signed, target)
    else:
        value = em.convert(value, kind, result, signed)
    em.set(inst.operands[0], result, value, is_signed(target))


def _clamp(em: Emitter, value: str, kind: str, signed: bool, target: str) -> str:
    """Clamps an integer to the range of another integer type."""
    result = LLVM_TYPES[target]
    width = WIDTHS[result]
    low = -(1 << width - 1) if is_signed(target) else 0
    high = (1 << width - is_signed(target)) - 1
    wide = f"i{2 * max(width, WIDTHS[kind])}"
    extend = "sext" if signed else "zext"
    value = em.op(f"{extend} {kind} {value} to {wide}")
    for word, limit in (("smax", low), ("smin", high)):
        arguments = (wide, value), (wide, str(limit))
        value = em.intrinsic(f"llvm.{word}.{wide}", wide, *arguments)
    return em.op(f"trunc {wide} {value} to {result}")


_PACK_WIDTHS = {"u16": 16, "s16": 16, "u8": 8, "s8": 8}


def _pack(em: Emitter, inst: Instruction) -> None:
    """cvt.pack.sat: c's low bits, then a and b clamped to a narrow type."""
    require(inst, "pack", "sat")
    target, source = inst.types[:2]
    if target not in _PACK_WIDTHS:
        raise em.unsupported(inst)
    width, kind = _PACK_WIDTHS[target], LLVM_TYPES[source]
    parts = [
        _clamp(em, em.get(operand, kind), kind, is_signed(source), target)
        for operand in (inst.operands[2], inst.operands[1])
    ]
    packed = em.convert(join(em, parts, width), f"i{2 * width}", "i32")
    if len(inst.operands) > 3:
        rest = em.op(f"shl i32 {em.get(inst.operands[3], 'i32')}, {2 * width}")
        packed = em.op(f"or i32 {packed}, {rest}")
    em.set(inst.operands[0], "i32", packed)


# Integers and floats


def _read_float(
    em: Emitter, inst: Instruction, operand: Operand, source: str
) -> tuple[str, str]:
    """Returns the LLVM type (float or double) and the value of a source."""
    if source in halves.TYPES:
        value = em.get(operand, "i16")
        return "float", library.invoke(em, f"jrc.widen.{source}", value)
    if source not in ("f32", "f64"):
        raise em.unsupported(inst)
    kind = LLVM_TYPES[source]
    value = em.get(operand, kind)
    if inst.has("ftz") and source == "f32":
        value = floats.flush(em, kind, value)
    return kind, value


def _float_to_integer(em: Emitter, inst: Instruction, target: str, source: str) -> None:
    kind, value = _read_float(em, inst, inst.operands[1], source)
    mode = inst.pick(*_TO_INTEGER)
    if mode is None:
        raise em.unsupported(inst, "a rounding mode is required")
    suffix, result = SUFFIXES[kind], LLVM_TYPES[target]
    whole = em.intrinsic(f"llvm.{_TO_INTEGER[mode]}.{suffix}", kind, (kind, value))
    sign = "s" if is_signed(target) else "u"
    name = f"llvm.fpto{sign}i.sat.{result}.{suffix}"
    number = em.intrinsic(name, result, (kind, whole))
    if source == "f64" or WIDTHS[result] == 64:
        # A NaN gives the lowest signed number here, and 0 for all other types.
        nan = em.op(f"fcmp uno {kind} {value}, {value}")
        lowest = -(1 << WIDTHS[result] - 1)
        number = em.op(f"select i1 {nan}, {result} {lowest}, {result} {number}")
    em.set(inst.operands[0], result, number, is_signed(target))


def _integer_to_float(em: Emitter, inst: Instruction, target: str, source: str) -> None:
    kind, signed = LLVM_TYPES[source], is_signed(source)
    value = em.get(inst.operands[1], kind, signed)
    convert = "sitofp" if signed else "uitofp"
    mode = inst.pick(*ROUNDINGS)
    if target in ("f32", "f64") and mode in (None, "rn"):
        result = LLVM_TYPES[target]
        number = em.op(f"{convert} {kind} {value} to {result}")
        _write_float(em, inst, target, number)
        return
    if target == "f64":
        _write_float(em, inst, target, _directed_double(em, value, kind, signed, mode))
        return
    if kind == "i64":
        value = library.invoke(em, f"jrc.sticky.{source}", value)
    exact = em.op(f"{convert} {kind} {value} to double")
    _write_rounded(em, inst, target, exact, mode)


def _directed_double(
    em: Emitter, value: str, kind: str, signed: bool, mode: str | None
) -> str:
    wide = em.convert(value, kind, "i64", signed)
    shift, convert = ("ashr", "sitofp") if signed else ("lshr", "uitofp")
    high = em.op(f"{convert} i64 {em.op(f'{shift} i64 {wide}, 32')} to double")
    high = em.op(f"fmul double {high}, 4294967296.0")
    low = em.op(f"uitofp i64 {em.op(f'and i64 {wide}, 4294967295')} to double")
    total = em.op(f"fadd double {high}, {low}")
    error = library.invoke(em, "jrc.sum.error", high, low, total)
    above = em.op(f"fcmp olt double {error}, 0.0")
    below = em.op(f"fcmp ogt double {error}, 0.0")
    bits = em.op(f"bitcast double {total} to i64")
    bits = library.invoke(em, f"jrc.nudge.{mode}.i64", bits, above, below)
    return em.op(f"bitcast i64 {bits} to double")


# Floats


def _write_rounded(
    em: Emitter, inst: Instruction, target: str, value: str, mode: str | None
) -> None:
    """Rounds a double to a smaller type and writes it."""
    directed = mode in DIRECTED
    if target == "f32":
        if directed:
            bits = library.invoke(em, f"jrc.round.{mode}.f32", value, "0.0")
            number = em.op(f"bitcast i32 {bits} to float")
        else:
            number = em.op(f"fptrunc double {value} to float")
        _write_float(em, inst, target, number)
    elif directed:
        bits = library.invoke(em, f"jrc.round.{mode}.{target}", value, "0.0")
        nan = em.op(f"fcmp uno double {value}, {value}")
        bits = em.op(f"select i1 {nan}, i16 32767, i16 {bits}")
        _write_half(em, inst, target, bits)
    else:
        bits = library.invoke(em, f"jrc.round.{target}", value)
        _write_half(em, inst, target, bits)


def _write_float(em: Emitter, inst: Instruction, target: str, value: str) -> None:
    kind = LLVM_TYPES[target]
    if inst.has("ftz") and target == "f32":
        value = floats.flush(em, kind, value)
    if inst.has("sat"):
        value = library.invoke(em, f"jrc.sat.{target}", value)
    em.set(inst.operands[0], kind, value)


def _write_half(em: Emitter, inst: Instruction, target: str, bits: str) -> None:
    em.set(inst.operands[0], "i16", halves.finish(em, inst, target, bits))


def _between_floats(em: Emitter, inst: Instruction, target: str, source: str) -> None:
    if target not in ("f16", "bf16", "f32", "f64"):
        raise em.unsupported(inst)
    kind, value = _read_float(em, inst, inst.operands[1], source)
    if (mode := inst.pick(*_INTEGRAL)) is not None:
        name = f"llvm.{_INTEGRAL[mode]}.{SUFFIXES[kind]}"
        value = em.intrinsic(name, kind, (kind, value))
    mode = inst.pick(*ROUNDINGS)
    if target in halves.TYPES and kind == "float" and mode not in DIRECTED:
        bits = library.invoke(em, f"jrc.narrow.{target}", value)
        _write_half(em, inst, target, bits)
    elif kind == LLVM_TYPES[target]:
        _write_float(em, inst, target, value)
    else:
        if kind == "float":
            value = em.op(f"fpext float {value} to double")
        if target == "f64":
            _write_float(em, inst, target, value)
        else:
            _write_rounded(em, inst, target, value, mode)


OPCODES: dict[str, Handler] = {"cvt": _cvt}
