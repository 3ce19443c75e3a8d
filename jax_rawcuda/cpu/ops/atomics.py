"""Atomic operations, with and without a result."""

from __future__ import annotations

from ..check.actions import UPDATE, Action, ordering
from ..emit.emitter import Emitter
from ..emit.values import Pointer
from ..llvm_types import LLVM_TYPES, is_signed
from ..ptx.instruction import Instruction, require
from ..ptx.operands import Memory, Operand, Sink, Vector
from ..ptx.types import SIZES
from .common import Handler
from .floating import halves
from .memory import SCOPES, SPACES, complete_bytes, space_of

_FLOATS = ("f32", "f64")
# Operation -> LLVM's word for bits and unsigned, signed, and floating-point types.
_OPERATIONS: dict[str, tuple[str, str, str]] = {
    "add": ("add", "add", "fadd"),
    "and": ("and", "and", ""),
    "or": ("or", "or", ""),
    "xor": ("xor", "xor", ""),
    "exch": ("xchg", "xchg", "xchg"),
    "inc": ("uinc_wrap", "", ""),
    "dec": ("udec_wrap", "", ""),
    "min": ("umin", "min", "fmin"),
    "max": ("umax", "max", "fmax"),
}
_CAS = "cas"
# PTX ordering -> LLVM ordering on success, and of a failed compare-and-swap.
_ORDERINGS = {
    "relaxed": ("monotonic", "monotonic"),
    "acquire": ("acquire", "acquire"),
    "release": ("release", "monotonic"),
    "acq_rel": ("acq_rel", "acquire"),
}
_VECTORS = ("v2", "v4", "v8")

_HALF_OPERATIONS = ("add", "min", "max")


def _atom(em: Emitter, inst: Instruction) -> None:
    destination, address, *sources = inst.operands
    _update(em, inst, destination, address, sources)


def _red(em: Emitter, inst: Instruction) -> None:
    address, *sources = inst.operands
    if not inst.has("async"):
        _update(em, inst, Sink(), address, sources)
        return
    *sources, barrier = sources
    _update(em, inst, Sink(), address, sources, "async", "mbarrier::complete_tx::bytes")
    complete_bytes(em, inst, barrier, SIZES[inst.type])


def _update(
    em: Emitter,
    inst: Instruction,
    destination: Operand,
    address: Operand,
    sources: list[Operand],
    *words: str,
) -> None:
    require(
        inst, *_OPERATIONS, _CAS, *_ORDERINGS, *_VECTORS, *SPACES, *SCOPES,
        "noftz", "L2::cache_hint", *words,
    )  # fmt: skip
    if inst.has(*_VECTORS):
        _vector(em, inst, destination, address, sources[0])
        return
    if not isinstance(address, Memory):
        raise em.unsupported(inst, "the address must be a memory operand")
    pointer = em.address(address, space_of(inst))
    later = Action.ASYNC if inst.has("async") else Action(0)
    em.guard(inst, pointer, SIZES[inst.type], UPDATE | ordering(inst) | later)
    value = _element(em, inst, pointer, sources)
    kind = f"i{8 * SIZES[inst.type]}"
    em.set(destination, kind, value, is_signed(inst.type))


def _vector(
    em: Emitter,
    inst: Instruction,
    destination: Operand,
    address: Operand,
    source: Operand,
) -> None:
    """A vector is updated element by element; only the elements are atomic."""
    if not isinstance(source, Vector):
        raise em.unsupported(inst, "a vector form needs a vector of sources")
    pointer = em.address(address, space_of(inst))
    size = SIZES[inst.type]
    em.guard(inst, pointer, size * len(source.items), UPDATE | ordering(inst))
    values = [
        _element(em, inst, em.offset(pointer, index * size), [item])
        for index, item in enumerate(source.items)
    ]
    if isinstance(destination, Vector):
        for item, value in zip(destination.items, values, strict=True):
            em.set(item, f"i{8 * size}", value)


def _element(
    em: Emitter, inst: Instruction, pointer: Pointer, sources: list[Operand]
) -> str:
    """Updates one element; returns the old bits."""
    ptx_type, size = inst.type, SIZES[inst.type]
    bits = f"i{8 * size}"
    success, failure = _ORDERINGS[inst.pick(*_ORDERINGS) or "relaxed"]
    if inst.has(_CAS):
        compare, new = (em.get(operand, bits) for operand in sources[:2])
        pair = em.op(
            f"cmpxchg ptr {pointer.value}, {bits} {compare}, {bits} {new} "
            f"{success} {failure}, align {size}"
        )
        return em.op(f"extractvalue {{ {bits}, i1 }} {pair}, 0")
    word = inst.pick(*_OPERATIONS)
    if word is None:
        raise em.unsupported(inst, "an operation is required")
    if ptx_type in halves.TYPES:
        if word not in _HALF_OPERATIONS:
            raise em.unsupported(inst)
        value = em.get(sources[0], bits)
        arguments = ("ptr", pointer.value), (bits, value)
        return em.intrinsic(f"jrc_atom_{word}_{ptx_type}", bits, *arguments)
    column = 2 if ptx_type in _FLOATS else int(is_signed(ptx_type))
    operation = _OPERATIONS[word][column]
    if not operation:
        raise em.unsupported(inst)
    kind = bits if operation == "xchg" else LLVM_TYPES[ptx_type]
    value = em.get(sources[0], kind)
    old = em.op(
        f"atomicrmw {operation} ptr {pointer.value}, {kind} {value} "
        f"{success}, align {size}"
    )
    return em.convert(old, kind, bits)


OPCODES: dict[str, Handler] = {"atom": _atom, "red": _red}
