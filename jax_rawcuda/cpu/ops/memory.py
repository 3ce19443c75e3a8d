"""Moves, loads, stores and addresses."""

from __future__ import annotations

from dataclasses import dataclass

from ..check.actions import MBARRIER, Action
from ..emit.emitter import Emitter
from ..emit.guards import fence, reading, writing
from ..llvm_types import LLVM_TYPES, WIDTHS, is_signed, memory_type
from ..ptx.instruction import Instruction, require
from ..ptx.operands import Operand, Sink, Vector
from ..ptx.types import SIZES
from .common import Handler

SPACES = (
    "global",
    "shared",
    "shared::cta",
    "shared::cluster",
    "local",
    "const",
    "param",
    "param::entry",
    "param::func",
)
SCOPES = ("cta", "cluster", "gpu", "sys")
# Performance hints: they never change what is read or written.
_HINTS = frozenset(
    {"nc", "ca", "cg", "cs", "lu", "cv", "wb", "wt", "unified", "weak"}
    | {f"L1::{word}" for word in ("evict_normal", "evict_unchanged", "evict_first")}
    | {"L1::evict_last", "L1::no_allocate", "L2::cache_hint"}
    | {f"L2::{word}" for word in ("evict_normal", "evict_first", "evict_last")}
    | {f"L2::{size}B" for size in (64, 128, 256)}
)
_VECTORS = {"v2": 2, "v4": 4, "v8": 8}
_ORDERINGS = {"relaxed": "monotonic", "acquire": "acquire", "release": "release"}


@dataclass(frozen=True, slots=True)
class _Access:
    """What the modifiers of a load or store say.

    Attributes:
      space: State space.
      size: Bytes per element.
      kind: LLVM type of an element.
      ordering: LLVM's memory ordering, or None for a plain access.
      volatile: Whether the access may not be moved or merged.
    """

    space: str
    size: int
    kind: str
    ordering: str | None
    volatile: bool


def space_of(inst: Instruction) -> str:
    """Returns the state space of an instruction, without param's subspaces."""
    return (
        (inst.pick(*SPACES) or "generic")
        .replace("param::entry", "param")
        .replace("param::func", "param")
    )


def _access(em: Emitter, inst: Instruction) -> _Access:
    words = (*SPACES, *SCOPES, *_HINTS, *_VECTORS, *_ORDERINGS, "volatile", "mmio")
    require(inst, *words)
    order = inst.pick(*_ORDERINGS)
    size = SIZES[inst.type]
    if order is not None and size > 8:
        raise em.unsupported(inst, "ordered accesses of 16 bytes are not available")
    ordering = None if order is None else _ORDERINGS[order]
    volatile = inst.has("volatile")
    return _Access(space_of(inst), size, memory_type(inst.type), ordering, volatile)


def _items(operand: Operand) -> tuple[Operand, ...]:
    return operand.items if isinstance(operand, Vector) else (operand,)


def _load(em: Emitter, inst: Instruction) -> None:
    access = _access(em, inst)
    signed = is_signed(inst.type)
    destinations = _items(inst.operands[0])
    if access.space == "param" and _load_parameter(em, inst, access, destinations):
        return
    pointer = em.address(inst.operands[1], access.space)
    align = 1 if pointer.private else access.size
    if access.space != "param" or em.is_kernel_parameter(pointer):
        nbytes = access.size * len(destinations)
        em.guard(inst, pointer, nbytes, reading(em, inst))
    values = []
    for index in range(len(destinations)):
        place = em.offset(pointer, index * access.size)
        if access.ordering is None or pointer.private:
            value = em.load(access.kind, place, align, access.volatile)
        else:
            whole = f"i{8 * access.size}"
            text = f"load atomic {whole}, ptr {place.value} {access.ordering}"
            value = em.op(f"{text}, align {access.size}")
            value = em.convert(value, whole, access.kind)
        values.append(value)
    # All elements are read before any register is written: the base may be one of them.
    for destination, value in zip(destinations, values, strict=True):
        em.set(destination, access.kind, value, signed)


def _load_parameter(
    em: Emitter,
    inst: Instruction,
    access: _Access,
    destinations: tuple[Operand, ...],
) -> bool:
    """Reads kernel parameters; returns whether the operand is one."""
    for index, destination in enumerate(destinations):
        offset = index * access.size
        value = em.parameter(inst.operands[1], offset, access.kind)
        if value is None:
            return False
        em.set(destination, access.kind, value, is_signed(inst.type))
    return True


def _store(em: Emitter, inst: Instruction) -> None:
    if inst.has("async"):
        _store_async(em, inst)
        return
    access = _access(em, inst)
    sources = _items(inst.operands[1])
    values = [em.get(source, access.kind) for source in sources]
    pointer = em.address(inst.operands[0], access.space)
    align = 1 if pointer.private else access.size
    if access.space != "param":
        nbytes = access.size * len(sources)
        em.guard(inst, pointer, nbytes, writing(em, inst))
    for index, (source, value) in enumerate(zip(sources, values, strict=True)):
        if isinstance(source, Sink):
            continue
        place = em.offset(pointer, index * access.size)
        if access.ordering is None or pointer.private:
            em.store(access.kind, value, place, align, access.volatile)
            continue
        whole = f"i{8 * access.size}"
        bits = em.convert(value, access.kind, whole)
        text = f"store atomic {whole} {bits}, ptr {place.value} {access.ordering}"
        em.line(f"{text}, align {access.size}")


def _store_async(em: Emitter, inst: Instruction) -> None:
    """st.async: a store to another block of the cluster that its mbarrier counts."""
    space = "shared::cluster"
    require(inst, "async", "weak", "mbarrier::complete_tx::bytes", space, *_VECTORS)
    size, kind = SIZES[inst.type], memory_type(inst.type)
    target, source, barrier = inst.operands
    items = _items(source)
    pointer = em.address(target, space)
    em.guard(inst, pointer, size * len(items), Action.WRITE | Action.ASYNC)
    for index, item in enumerate(items):
        em.store(kind, em.get(item, kind), em.offset(pointer, index * size), size)
    complete_bytes(em, inst, barrier, size * len(items))


def complete_bytes(
    em: Emitter, inst: Instruction, barrier: Operand, nbytes: int
) -> None:
    """Tells an mbarrier of the cluster that bytes have arrived."""
    counter = em.address(barrier, "shared::cluster")
    em.guard(inst, counter, 8, MBARRIER)
    arguments = ("ptr", counter.value), ("i32", str(nbytes))
    em.intrinsic("jrc_mbar_complete_tx", "void", *arguments)


def _mov(em: Emitter, inst: Instruction) -> None:
    require(inst)
    kind = LLVM_TYPES[inst.type]
    destination, source = inst.operands
    if isinstance(destination, Vector) and isinstance(source, Vector):
        values = [em.get(item, kind) for item in source.items]
        for item, value in zip(destination.items, values, strict=True):
            em.set(item, kind, value)
        return
    if isinstance(destination, Vector) or isinstance(source, Vector):
        kind = f"i{WIDTHS[kind]}"
    em.set(destination, kind, em.get(source, kind))


# Addresses


def _cvta(em: Emitter, inst: Instruction) -> None:
    """Shared addresses are offsets; all others equal their generic address."""
    require(inst, "to", *SPACES)
    value = em.get(inst.operands[1], "i64")
    if space_of(inst) == "shared::cluster" and not inst.has("to"):
        low = em.op(f"trunc i64 {value} to i32")
        value = em.op(f"sext i32 {low} to i64")
    if space_of(inst).startswith("shared"):
        base = em.op(f"ptrtoint ptr {em.context('shared')} to i64")
        value = em.op(f"{'sub' if inst.has('to') else 'add'} i64 {value}, {base}")
    em.set(inst.operands[0], "i64", value)


_SPACE_CODES = {
    "global": 0,
    "shared": 1,
    "shared::cta": 1,
    "local": 2,
    "const": 3,
    "param": 4,
}


def _isspacep(em: Emitter, inst: Instruction) -> None:
    require(inst, *SPACES)
    block, address = ("ptr", "%ctx"), ("i64", em.get(inst.operands[1], "i64"))
    if space_of(inst) == "shared::cluster":
        found = em.intrinsic("jrc_is_cluster_shared", "i1", block, address)
    else:
        code = ("i32", str(_SPACE_CODES[space_of(inst)]))
        found = em.intrinsic("jrc_isspace", "i1", block, address, code)
    em.set(inst.operands[0], "i1", found)


def _mapa(em: Emitter, inst: Instruction) -> None:
    require(inst, *SPACES)
    shared = "1" if space_of(inst).startswith("shared") else "0"
    value = em.intrinsic(
        "jrc_mapa",
        "i64",
        ("ptr", "%ctx"),
        ("i64", em.get(inst.operands[1], "i64")),
        ("i32", em.get(inst.operands[2], "i32")),
        ("i32", shared),
    )
    em.end_if_faulted()
    em.set(inst.operands[0], "i64", value)


def _getctarank(em: Emitter, inst: Instruction) -> None:
    require(inst, *SPACES)
    value = em.intrinsic(
        "jrc_ctarank",
        "i32",
        ("ptr", "%ctx"),
        ("i64", em.get(inst.operands[1], "i64")),
        ("i32", str(int(space_of(inst).startswith("shared")))),
    )
    em.set(inst.operands[0], "i32", value)


# Fences and hints


def _fence(em: Emitter, inst: Instruction) -> None:
    if not inst.has("proxy", "mbarrier_init"):
        em.line("fence seq_cst")
        if em.state.checked:
            fence(em, inst)


def _nothing(em: Emitter, inst: Instruction) -> None:
    """A hint about caches, registers or scheduling: nothing to do on a CPU."""
    del em, inst


OPCODES: dict[str, Handler] = {
    "ld": _load,
    "ldu": _load,
    "st": _store,
    "mov": _mov,
    "cvta": _cvta,
    "isspacep": _isspacep,
    "mapa": _mapa,
    "getctarank": _getctarank,
    "membar": _fence,
    "fence": _fence,
    **dict.fromkeys(
        (
            "prefetch",
            "prefetchu",
            "discard",
            "applypriority",
            "createpolicy",
            "griddepcontrol",
            "setmaxnreg",
            "brkpt",
            "pmevent",
        ),
        _nothing,
    ),
}
