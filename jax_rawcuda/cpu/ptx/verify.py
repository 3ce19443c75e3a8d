"""What ptxas refuses of an instruction's operands.

Only inline PTX can be wrong here, and text given to `load_ptx`. Where NVRTC is not
installed, nobody else looks at them before a GPU is there.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..._base.errors import ValidationError, counted
from .body import Body
from .bounds import bounds_problem
from .instruction import Instruction
from .operands import Float, Integer, Operand, Register, Vector
from .types import SIZES

_VECTORS = {"v2": 2, "v4": 4, "v8": 8}
_LARGEST_VECTOR = 32  # bytes; 16 before sm_100
_CONSTRAINTS = {16: '"h"', 32: '"r" or "f"', 64: '"l" or "d"'}

# One letter per operand: t is the instruction's type, w an integer of twice its width,
# i one of 32 bits, p a predicate.
_PATTERNS = {
    **dict.fromkeys(
        ("abs", "neg", "not", "cnot", "brev", "rcp", "sqrt", "rsqrt"), "tt"
    ),
    **dict.fromkeys(("sin", "cos", "lg2", "ex2", "tanh", "mov"), "tt"),
    **dict.fromkeys(("add", "sub", "addc", "subc", "min", "max", "div", "rem"), "ttt"),
    **dict.fromkeys(("and", "or", "xor", "copysign", "mul", "mul24"), "ttt"),
    **dict.fromkeys(("fma", "mad", "madc", "mad24", "sad"), "tttt"),
    **dict.fromkeys(("popc", "clz", "bfind"), "it"),
    **dict.fromkeys(("shl", "shr"), "tti"),
    **dict.fromkeys(("shf", "prmt"), "iiii"),
    "bfe": "ttii",
    "bfi": "tttii",
    "selp": "tttp",
    "testp": "pt",
}
_WIDE_PATTERNS = {"mul": "wtt", "mad": "wttw"}


def verify(kernel: str, body: Body) -> None:
    """Refuses an instruction whose operands no device would take.

    Args:
      kernel: The symbol of the kernel that reaches it, for messages.
      body: Of the function that it is in.

    Raises:
      ValidationError: It has one.
    """
    for inst in body.statements:
        if isinstance(inst, Instruction):
            problem = bounds_problem(inst) or _problem(inst, body.registers)
            if problem:
                raise ValidationError(f"{kernel}: instruction {inst}: {problem}.")


def _problem(inst: Instruction, registers: Mapping[str, str]) -> str:
    # Conversions and mixed precisions have rules of their own.
    if len(inst.types) != 1 or inst.type not in SIZES:
        return ""
    if inst.opcode in ("ld", "st"):
        return _access(inst, registers)
    operands = inst.operands
    if inst.opcode == "setp":
        pattern, operands = "ptt", operands[:3]  # then a predicate to combine with
    elif inst.opcode in ("atom", "red") and not inst.has(*_VECTORS):
        operands = operands[: -1 if inst.has("L2::cache_hint") else None]
        pattern = "t" * len(operands)
    elif inst.has("wide"):
        pattern = _WIDE_PATTERNS.get(inst.opcode, "")
    else:
        pattern = _PATTERNS.get(inst.opcode, "")
    if pattern and len(operands) != len(pattern):
        return f"{counted(len(operands), 'operand')}; {len(pattern)} are needed"
    types = {"t": inst.type, "w": f"b{16 * SIZES[inst.type]}", "i": "b32", "p": "pred"}
    for index, (letter, operand) in enumerate(zip(pattern, operands, strict=False)):
        if problem := _mismatch(operand, registers, types[letter]):
            return f"operand {index + 1} is {problem}"
    return ""


def _mismatch(operand: Operand, registers: Mapping[str, str], needed: str) -> str:
    """Says what an operand is, if not of a type; else ""."""
    width = _width(needed)
    match operand:
        case Register(name) if (given := _width(registers[name])) != width:
            return _register(given, width)
        case Vector(items):
            part = width // len(items)
            names = (item.name for item in items if isinstance(item, Register))
            if len(items) == 1 or any(_width(registers[n]) != part for n in names):
                return f"a vector that does not have the {width} bits of .{needed}"
    return _constant(operand, needed)


def _constant(operand: Operand, needed: str) -> str:
    match operand:
        case Integer(value) if needed in ("f32", "f64"):
            return f"an integer; write {value}.0"
        case Integer() | Float() if needed.startswith(("f16", "bf16")):
            return "a constant; a register is needed"
        case Float(_, width) if needed[0] in "us" or needed == f"b{96 - width}":
            return "a floating-point constant; an integer is needed"
    return ""


def _register(given: int, needed: int) -> str:
    text = f"{_describe(given)}; {_describe(needed)} is needed"
    if constraint := _CONSTRAINTS.get(needed):
        text += f", in inline PTX the constraint {constraint}"
    return text


def _access(inst: Instruction, registers: Mapping[str, str]) -> str:
    value = inst.operands[inst.opcode == "st"]
    items = value.items if isinstance(value, Vector) else (value,)
    word = inst.pick(*_VECTORS)
    needed = _VECTORS[word] if word else 1
    if len(items) != needed:
        given = counted(len(items), "value")
        return f"{given}; {f'.{word} needs {needed}' if word else 'give .v2 or .v4'}"
    size = SIZES[inst.type]
    if word and needed * size > _LARGEST_VECTOR:
        return f"{needed * size} bytes at once; at most {_LARGEST_VECTOR} are allowed"
    for index, item in enumerate(items):
        problem = _constant(item, inst.type)
        if isinstance(item, Register):  # a wider one is filled, or cut
            width = _width(registers[item.name])
            problem = _register(width, 8 * size) if width < 8 * size else ""
        if problem:
            return f"value {index + 1} is {problem}"
    return ""


def _width(ptx_type: str) -> int:
    return 1 if ptx_type == "pred" else 8 * SIZES[ptx_type]


def _describe(width: int) -> str:
    return "a predicate" if width == 1 else f"a register of {width} bits"
