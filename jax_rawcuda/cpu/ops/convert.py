"""Conversions between all types."""

from __future__ import annotations

from .._types import LLVM_TYPES, SUFFIXES, WIDTHS, is_signed
from ..emitter import Emitter
from ..operands import Instruction, Operand
from . import floats, halves, library
from ._common import Handler, join, lanes, require
from .rounding import DIRECTED, ROUNDINGS

_INTEGERS = frozenset(f"{sign}{width}" for sign in "su" for width in (8, 16, 32, 64))
_EIGHT_BITS = ("e4m3x2", "e5m2x2")
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
library.add("""
define float @jrc.relu.f32(float %x) {
  %negative = fcmp olt float %x, 0.0
  %zero = fcmp oeq float %x, 0.0
  %clamp = or i1 %negative, %zero
  %result = select i1 %clamp, float 0.0, float %x
  ret float %result
}
""")
for _name, _infinity in (("f16", 0x7C00), ("bf16", 0x7F80)):
    library.add(f"""
define i16 @jrc.finite.{_name}(i16 %x) {{
  %size = and i16 %x, 32767
  %infinite = icmp eq i16 %size, {_infinity}
  %largest = sub i16 %x, 1
  %result = select i1 %infinite, i16 %largest, i16 %x
  ret i16 %result
}}
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
  %cut = and i32 %rounded, -8192
  %nan = fcmp uno float %x, %x
  %result = select i1 %nan, i32 2147483647, i32 %cut
  ret i32 %result
}}
""")


def _cvt(em: Emitter, inst: Instruction) -> None:
    if inst.has("pack"):
        _pack(em, inst)
        return
    require(
        em, inst, *_TO_INTEGER, "rna", "ftz", "sat", "satfinite", "relu"
    )  # fmt: skip
    target, source = inst.types[-2:]
    if target in _EIGHT_BITS:
        _to_eight_bits(em, inst, target, source)
    elif source in _EIGHT_BITS:
        _from_eight_bits(em, inst, target, source)
    elif target in ("f16x2", "bf16x2") and source == "f32":
        _to_pair(em, inst, halves.format_of(target))
    elif target == "tf32":
        _to_tf32(em, inst)
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
    require(em, inst, "pack", "sat")
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
    em.set(inst.operands[0], "i16", _finish_half(em, inst, target, bits))


def _finish_half(em: Emitter, inst: Instruction, target: str, bits: str) -> str:
    for word, name in (("sat", "sat"), ("satfinite", "finite"), ("relu", "relu")):
        if inst.has(word):
            bits = library.invoke(em, f"jrc.{name}.{target}", bits)
    return bits


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


def _to_pair(em: Emitter, inst: Instruction, target: str) -> None:
    """Converts two f32 to a pair; the first source becomes the upper half."""
    mode = inst.pick(*DIRECTED)
    parts = []
    for operand in (inst.operands[2], inst.operands[1]):
        _, value = _read_float(em, inst, operand, "f32")
        if mode is None:
            bits = library.invoke(em, f"jrc.narrow.{target}", value)
        else:
            wide = em.op(f"fpext float {value} to double")
            bits = library.invoke(em, f"jrc.round.{mode}.{target}", wide, "0.0")
            bits = library.invoke(em, f"jrc.canonical.{target}", bits)
        parts.append(_finish_half(em, inst, target, bits))
    em.set(inst.operands[0], "i32", join(em, parts, 16))


def _to_tf32(em: Emitter, inst: Instruction) -> None:
    value = em.get(inst.operands[1], "float")
    if inst.has("relu"):
        value = library.invoke(em, "jrc.relu.f32", value)
    mode = inst.pick(*_TF32)
    if mode is None or inst.has("satfinite"):
        raise em.unsupported(inst)
    em.set(inst.operands[0], "i32", library.invoke(em, f"jrc.tf32.{mode}", value))


# Eight-bit floats, always in pairs


def _to_eight_bits(em: Emitter, inst: Instruction, target: str, source: str) -> None:
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


def _from_eight_bits(em: Emitter, inst: Instruction, target: str, source: str) -> None:
    if target != "f16x2":
        raise em.unsupported(inst)
    argument = ("i16", em.get(inst.operands[1], "i16"))
    bits = em.intrinsic(f"jrc_cvt_f16x2_{source}", "i32", argument)
    parts = lanes(em, bits, 2, 16)
    if inst.has("relu"):
        parts = [library.invoke(em, "jrc.relu.f16", part) for part in parts]
    halves.write(em, inst.operands[0], parts)


OPCODES: dict[str, Handler] = {"cvt": _cvt}
