"""Arithmetic of f32, f64 and pairs of f32, in every rounding mode."""

from __future__ import annotations

from collections.abc import Callable

from ...emit.emitter import Emitter
from ...llvm_types import SUFFIXES
from ...ptx.instruction import Instruction, require
from ...ptx.operands import Operand
from ..common import Handler, join, lanes
from . import float_functions as float_functions
from . import library
from .rounding import DIRECTED, ROUNDINGS

TYPES = frozenset({"f32", "f64", "f32x2"})

# Computes one lane: LLVM type and sources -> value of that type.
Compute = Callable[[Emitter, str, list[str]], str]


def flush(em: Emitter, kind: str, value: str) -> str:
    """Replaces a subnormal by zero of the same sign."""
    return library.invoke(em, f"jrc.ftz.{SUFFIXES[kind]}", value)


def _sources(em: Emitter, inst: Instruction, operand: Operand) -> list[str]:
    """Reads one operand as a list of lanes, flushed if the instruction asks for it."""
    if inst.type == "f32x2":
        parts = lanes(em, em.get(operand, "i64"), 2, 32)
        values = [em.op(f"bitcast i32 {part} to float") for part in parts]
    else:
        values = [em.get(operand, _kind(inst))]
    if inst.has("ftz"):
        values = [flush(em, _kind(inst), value) for value in values]
    return values


def _kind(inst: Instruction) -> str:
    return "double" if inst.type == "f64" else "float"


def apply(em: Emitter, inst: Instruction, compute: Compute, *sources: Operand) -> None:
    """Computes a result lane by lane, with `.ftz` and `.sat`.

    Args:
      em: The emitter.
      inst: The instruction; its first operand is the destination.
      compute: Computes one lane.
      *sources: Source operands; all but the first operand by default.
    """
    kind = _kind(inst)
    columns = [_sources(em, inst, s) for s in sources or inst.operands[1:]]
    results = []
    for values in zip(*columns, strict=True):
        result = compute(em, kind, list(values))
        if inst.has("ftz"):
            result = flush(em, kind, result)
        if inst.has("sat"):
            result = library.invoke(em, f"jrc.sat.{SUFFIXES[kind]}", result)
        results.append(result)
    if len(results) == 1:
        em.set(inst.operands[0], kind, results[0])
        return
    parts = [em.op(f"bitcast float {result} to i32") for result in results]
    em.set(inst.operands[0], "i64", join(em, parts, 32))


def _rounded(name: str, nearest: Compute) -> Handler:
    """An operation with a rounding mode; `name` is the library's."""

    def emit(em: Emitter, inst: Instruction) -> None:
        require(inst, *ROUNDINGS, "ftz", "sat", "approx", "full")
        mode = inst.pick(*DIRECTED)

        def compute(em: Emitter, kind: str, values: list[str]) -> str:
            if mode is None:
                return nearest(em, kind, values)
            return directed(em, name, mode, kind, values)

        apply(em, inst, compute)

    return emit


def directed(em: Emitter, name: str, mode: str, kind: str, values: list[str]) -> str:
    """Computes `name` (add, mul, div, fma, sqrt) with a directed rounding mode."""
    if kind == "float":
        return library.invoke(em, f"jrc.{name}.{mode}.f32", *values)
    helper = name if name in ("fma", "sqrt") else f"f{name}"
    arguments = [("double", value) for value in values]
    return em.intrinsic(f"jrc_{helper}_{mode}_f64", "double", *arguments)


def _instruction(word: str) -> Compute:
    def compute(em: Emitter, kind: str, values: list[str]) -> str:
        return em.op(f"{word} {kind} {', '.join(values)}")

    return compute


def _intrinsic(word: str) -> Compute:
    def compute(em: Emitter, kind: str, values: list[str]) -> str:
        arguments = [(kind, value) for value in values]
        return em.intrinsic(f"llvm.{word}.{SUFFIXES[kind]}", kind, *arguments)

    return compute


def _sub(em: Emitter, inst: Instruction) -> None:
    require(inst, *ROUNDINGS, "ftz", "sat")
    mode = inst.pick(*DIRECTED)

    def compute(em: Emitter, kind: str, values: list[str]) -> str:
        a, b = values
        if mode is None:
            return em.op(f"fsub {kind} {a}, {b}")
        return directed(em, "add", mode, kind, [a, em.op(f"fneg {kind} {b}")])

    apply(em, inst, compute)


def _rcp(em: Emitter, inst: Instruction) -> None:
    require(inst, *ROUNDINGS, "ftz", "approx")
    mode = inst.pick(*DIRECTED)

    def compute(em: Emitter, kind: str, values: list[str]) -> str:
        (x,) = values
        if mode is None:
            return em.op(f"fdiv {kind} 1.0, {x}")
        return directed(em, "div", mode, kind, ["1.0", x])

    apply(em, inst, compute)


def _sqrt(em: Emitter, kind: str, values: list[str]) -> str:
    if kind == "float":
        return library.invoke(em, "jrc.sqrt.f32", *values)
    return _intrinsic("sqrt")(em, kind, values)


def _rsqrt(em: Emitter, inst: Instruction) -> None:
    require(inst, "ftz", "approx")

    def compute(em: Emitter, kind: str, values: list[str]) -> str:
        root = _intrinsic("sqrt")(em, kind, values)
        return em.op(f"fdiv {kind} 1.0, {root}")

    apply(em, inst, compute)


def _extreme(word: str) -> Handler:
    def emit(em: Emitter, inst: Instruction) -> None:
        require(inst, "ftz", "NaN", "xorsign", "abs")
        name = f"jrc.{word}.nan" if inst.has("NaN") else f"jrc.{word}"

        def compute(em: Emitter, kind: str, values: list[str]) -> str:
            sizes = values
            if inst.has("abs"):
                sizes = [_intrinsic("fabs")(em, kind, [value]) for value in values]
            result, *rest = sizes
            for value in rest:
                result = library.invoke(em, f"{name}.{SUFFIXES[kind]}", result, value)
            if inst.has("xorsign"):
                result = _with_product_sign(em, result, values)
            return result

        apply(em, inst, compute)

    return emit


def _with_product_sign(em: Emitter, size: str, values: list[str]) -> str:
    bits = [em.op(f"bitcast float {value} to i32") for value in values]
    sign = bits[0]
    for other in bits[1:]:
        sign = em.op(f"xor i32 {sign}, {other}")
    signed = em.op(f"bitcast i32 {sign} to float")
    arguments = ("float", size), ("float", signed)
    result = em.intrinsic("llvm.copysign.f32", "float", *arguments)
    return library.invoke(em, "jrc.canonical.f32", result)


def _canonical(em: Emitter, inst: Instruction) -> None:
    """`canonical.f32 d, a, p`: the device's NaN for any, if p says that a is a result.

    nans.py writes it; PTX has no such instruction.
    """
    destination, source, is_result = inst.operands
    value = em.get(source, "float")
    changed = library.invoke(em, "jrc.canonical.f32", value)
    flag = em.get(is_result, "i1")
    em.set(
        destination, "float", em.op(f"select i1 {flag}, float {changed}, float {value}")
    )


def _plain(compute: Compute) -> Handler:
    def emit(em: Emitter, inst: Instruction) -> None:
        require(inst, "ftz")
        apply(em, inst, compute)

    return emit


def _copysign(em: Emitter, inst: Instruction) -> None:
    require(inst)
    apply(em, inst, _intrinsic("copysign"), inst.operands[2], inst.operands[1])


# The bits of llvm.is.fpclass.
_CLASSES = {
    "finite": 0x1F8,
    "infinite": 0x204,
    "number": 0x3FC,
    "notanumber": 0x003,
    "normal": 0x168,  # zeros count as normal
    "subnormal": 0x090,
}


def _testp(em: Emitter, inst: Instruction) -> None:
    require(inst, *_CLASSES)
    kind, word = _kind(inst), inst.pick(*_CLASSES)
    if word is None:
        raise em.unsupported(inst, "a property is required")
    arguments = (kind, em.get(inst.operands[1], kind)), ("i32", str(_CLASSES[word]))
    name = f"llvm.is.fpclass.{SUFFIXES[kind]}"
    em.set(inst.operands[0], "i1", em.intrinsic(name, "i1", *arguments))


_fma = _rounded("fma", _intrinsic("fma"))
OPCODES: dict[str, Handler] = {
    "add": _rounded("add", _instruction("fadd")),
    "sub": _sub,
    "mul": _rounded("mul", _instruction("fmul")),
    "fma": _fma,
    "mad": _fma,
    "div": _rounded("div", _instruction("fdiv")),
    "sqrt": _rounded("sqrt", _sqrt),
    "rcp": _rcp,
    "rsqrt": _rsqrt,
    "min": _extreme("min"),
    "max": _extreme("max"),
    "neg": _plain(_instruction("fneg")),
    "abs": _plain(_intrinsic("fabs")),
    "copysign": _copysign,
    "canonical": _canonical,
    "testp": _testp,
}
