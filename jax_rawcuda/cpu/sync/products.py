"""Matrix products of a warp: mma.sync and wmma.mma."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..abi import SyncKind
from ..ptx.instruction import Instruction, unsupported
from ..ptx.operands import Operand, Vector
from .points import SyncPoint

_WARP_SIZE = 32
# Elements, numbered as the scheduler does (ffi/cpu/warp/matrix.h).
_KINDS = {
    "f16": 0,
    "bf16": 1,
    "tf32": 2,
    "f64": 3,
    "s8": 4,
    "u8": 5,
    "s4": 6,
    "u4": 7,
    "b1.xor": 8,
    "b1.and": 9,
    "e4m3": 10,
    "e5m2": 11,
    "f32": 12,
    "s32": 13,
}
WIDTHS = {
    "f16": 16,
    "bf16": 16,
    "tf32": 32,
    "f64": 64,
    "s8": 8,
    "u8": 8,
    "s4": 4,
    "u4": 4,
    "b1": 1,
    "e4m3": 8,
    "e5m2": 8,
    "f32": 32,
    "s32": 32,
}
# Elements of A and B -> elements that C and D may have.
_SUMS = {
    "f16": ("f16", "f32"),
    "bf16": ("f32",),
    "tf32": ("f32",),
    "f64": ("f64",),
    "e4m3": ("f16", "f32"),
    "e5m2": ("f16", "f32"),
    **dict.fromkeys(("s8", "u8", "s4", "u4", "b1"), ("s32",)),
}
_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)")
_ROUNDINGS = ("rn", "rz", "rm", "rp")
_ADVICE = (
    "give an mma.sync shape with full fragments of f16, bf16, tf32, f64, fp8 or "
    "integers"
)


def items(operand: Operand) -> tuple[Operand, ...]:
    """The registers of a vector operand."""
    return operand.items if isinstance(operand, Vector) else (operand,)


def shape_of(inst: Instruction) -> tuple[int, int, int]:
    """Reads m, n and k off the shape's modifier."""
    for word in inst.modifiers:
        if match := _SHAPE.fullmatch(word):
            m, n, k = map(int, match.groups())
            return m, n, k
    raise unsupported(inst, "a shape such as .m16n8k16 is required")


@dataclass(frozen=True, slots=True)
class _Product:
    """What D = A B + C is made of: the PTX types, the shape, the registers."""

    d: str
    a: str
    b: str
    c: str
    shape: tuple[int, int, int]
    registers: tuple[tuple[Operand, ...], ...]  # of D, A, B and C

    def fits(self) -> bool:
        """Whether the types go together and the lanes hold whole matrices."""
        m, n, k = self.shape
        sums = _SUMS.get(self.a, ())
        alike = self.a == self.b or {self.a, self.b} <= {"s8", "u8"}
        alike = alike or {self.a, self.b} in ({"s4", "u4"}, {"e4m3", "e5m2"})
        return (
            alike
            and self.c in sums
            and self.d in sums
            and self.capacity(0, self.d) == self.capacity(3, self.c) == m * n
            and self.capacity(1, self.a) >= m * k
            and self.capacity(2, self.b) >= k * n
        )

    def capacity(self, which: int, ptx_type: str) -> int:
        """How many elements the registers of all lanes hold."""
        width = WIDTHS[ptx_type]
        return len(self.registers[which]) * _WARP_SIZE * max(32 // width, 1)

    def whole(self) -> bool:
        """Whether the registers of A and B hold nothing else."""
        m, n, k = self.shape
        return self.capacity(1, self.a) == m * k and self.capacity(2, self.b) == k * n


def _sync_point(kind: SyncKind, inst: Instruction, product: _Product) -> SyncPoint:
    m, n, k = product.shape
    bits = ".and" if inst.has("and") else ".xor"
    a, b = (t + bits if t == "b1" else t for t in (product.a, product.b))
    if product.a == "b1":
        k //= 32  # the scheduler sees words of bits
    kinds = [_KINDS[t] for t in (a, b, product.c, product.d)]
    destination, *sources = product.registers
    registers = [register for source in sources for register in source]
    types = [
        "i64" if t == "f64" else "i32"
        for t, source in zip((a, b, product.c), sources, strict=True)
        for _ in source
    ]
    return SyncPoint(
        kind,
        sub=kinds[0] | kinds[1] << 8 | kinds[2] << 16 | kinds[3] << 24,
        aux=m | n << 8 | k << 16,
        n_in=1 + len(registers),
        n_out=len(destination),
        full_mask=True,
        imm0=len(sources[0]) | len(sources[1]) << 8,
        imm1=int(inst.has("satfinite")),
        inputs=tuple(
            (1 + i, register, kind)
            for i, (register, kind) in enumerate(zip(registers, types, strict=True))
        ),
        results=tuple(
            (i, register, "i64" if product.d == "f64" else "i32")
            for i, register in enumerate(destination)
        ),
    )


def _registers(inst: Instruction) -> tuple[tuple[Operand, ...], ...]:
    return tuple(items(operand) for operand in inst.operands[:4])


def mma(inst: Instruction) -> SyncPoint:
    """mma.sync: the layout of fragments is the PTX manual's."""
    shape = shape_of(inst)
    words = {"sync", "aligned", "row", "col", "satfinite", "xor", "and", "popc"}
    for word in inst.modifiers:
        known = word in words or word in inst.types or _SHAPE.fullmatch(word)
        if not known and word not in _ROUNDINGS:
            raise unsupported(inst, f".{word} is not available on the CPU; {_ADVICE}")
    if len(inst.types) != 4:
        raise unsupported(inst, _ADVICE)
    product = _Product(*inst.types, shape, _registers(inst))
    if not product.fits() or not product.whole():
        raise unsupported(inst, _ADVICE)
    return _sync_point(SyncKind.MMA, inst, product)


def wmma(inst: Instruction) -> SyncPoint:
    """wmma.mma: where a fragment holds its elements is private to this package."""
    types = inst.types
    if len(types) == 2:  # the first form, with operands of f16
        types = (types[0], "f16", "f16", types[1])
    if len(types) != 4 or not {"s4", "u4", "b1"}.isdisjoint(types):
        raise unsupported(inst, "fragments of s4, u4 and b1 are not available")
    product = _Product(*types, shape_of(inst), _registers(inst))
    if not product.fits():
        raise unsupported(inst, "the shape and the types do not go together")
    return _sync_point(SyncKind.WMMA, inst, product)
