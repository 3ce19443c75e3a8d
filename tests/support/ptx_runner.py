"""Runs single PTX instructions over arrays: one region, called through ctypes."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

import numpy as np

from jax_rawcuda import cpu
from jax_rawcuda.cpu.abi import CONTEXT

# Kind of a register -> (its PTX type, element type in memory, how it is loaded).
KINDS = {
    "b8": (".b16", np.uint8, "u8"),
    "b16": (".b16", np.uint16, "b16"),
    "b32": (".b32", np.uint32, "b32"),
    "b64": (".b64", np.uint64, "b64"),
    "pred": (".pred", np.uint32, "u32"),
}
_HEADER = ".version 8.3\n.target sm_90\n.address_size 64\n"
_CONTEXT_BYTES = 256
_SHARED_BYTES = 32  # dynamic, per thread


@dataclass(frozen=True)
class Form:
    """An instruction with named registers.

    Attributes:
      text: PTX lines; sources are %a %b %c %e, results %d %q.
      sources: Kinds of the sources, in order.
      results: Kinds of the results.
      declarations: PTX lines before the kernel.
    """

    text: str
    sources: tuple[str, ...]
    results: tuple[str, ...] = ("b32",)
    declarations: str = ""

    def ptx(self) -> str:
        """Returns a kernel `k(out..., in...)` that applies the form elementwise."""
        pointers = len(self.results) + len(self.sources)
        parameters = ", ".join(f".param .u64 p{i}" for i in range(pointers))
        lines = [
            f"{_HEADER}{self.declarations}.visible .entry k({parameters})",
            "{",
            ".reg .b64 %addr, %index, %offset; .reg .b32 %x, %nx, %bx, %word;",
            ".reg .pred %t; .reg .b16 %h0, %h1; .reg .b32 %w0, %w1;",
            *(f".reg {KINDS[k][0]} {n};" for n, k in self._registers()),
            "mov.u32 %x, %tid.x; mov.u32 %bx, %ctaid.x; mov.u32 %nx, %ntid.x;",
            "mad.lo.s32 %x, %bx, %nx, %x; cvt.u64.u32 %index, %x;",
        ]
        registers = self._registers()
        for i, (name, kind) in enumerate(registers):
            if i >= len(self.results):
                lines += self._address(i, kind)
                target = "%word" if kind == "pred" else name
                lines.append(f"ld.global.{KINDS[kind][2]} {target}, [%addr];")
                if kind == "pred":
                    lines.append(f"setp.ne.b32 {name}, %word, 0;")
        lines.append(self.text)
        for i, (name, kind) in enumerate(registers[: len(self.results)]):
            lines += self._address(i, kind)
            if kind == "pred":
                lines += [f"selp.b32 %word, 1, 0, {name};"]
            source = "%word" if kind == "pred" else name
            lines.append(f"st.global.{KINDS[kind][2]} [%addr], {source};")
        return "\n".join([*lines, "ret;", "}", ""])

    def _registers(self) -> list[tuple[str, str]]:
        return [
            *zip(("%d", "%q"), self.results, strict=False),
            *zip(("%a", "%b", "%c", "%e"), self.sources, strict=False),
        ]

    def _address(self, index: int, kind: str) -> list[str]:
        size = np.dtype(KINDS[kind][1]).itemsize
        return [
            f"ld.param.u64 %addr, [p{index}];",
            f"mad.lo.u64 %addr, %index, {size}, %addr;",
        ]


def run(form: Form, *sources: np.ndarray) -> list[np.ndarray]:
    """Applies a form to equally long arrays of bits."""
    columns = [
        np.ascontiguousarray(source, KINDS[kind][1])
        for source, kind in zip(sources, form.sources, strict=True)
    ]
    count = len(columns[0])
    results = [np.zeros(count, KINDS[kind][1]) for kind in form.results]
    shared = _SHARED_BYTES * count
    launch(cpu.load_kernel(form.ptx(), "k"), [*results, *columns], count, shared)
    return results


def launch(
    kernel: cpu.HostKernel, arrays: list[np.ndarray], threads: int, shared: int = 0
) -> None:
    """Runs a kernel without synchronisation as one block."""
    assert len(kernel.regions) == 1
    params = (ctypes.c_uint64 * len(arrays))(*(array.ctypes.data for array in arrays))
    memory = ctypes.create_string_buffer(kernel.shared_bytes + shared + 64)
    context = ctypes.create_string_buffer(_CONTEXT_BYTES)
    running = ctypes.c_int32(0)
    _write(context, "params", ctypes.addressof(params))
    _write(context, "stop", ctypes.addressof(running))
    _write(context, "shared", (ctypes.addressof(memory) + 15) & ~15)
    for name, values in {
        "ntid": (threads, 1, 1),
        "nctaid": (1, 1, 1),
        "thread_count": (threads,),
        "thread_stride": ((threads + 15) & ~15,),
        "total_shared": (kernel.shared_bytes + shared,),
    }.items():
        for index, value in enumerate(values):
            _write(context, name, value, index)
    region = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int32, ctypes.c_int32)
    region(kernel.regions[0])(ctypes.addressof(context), 0, threads)


def _write(
    context: ctypes.Array[ctypes.c_char], name: str, value: int, index: int = 0
) -> None:
    offset, kind = CONTEXT[name]
    size = 4 if kind == "i32" else 8
    place = ctypes.addressof(context) + offset + 4 * index
    ctypes.memmove(place, value.to_bytes(size, "little"), size)


def bits(width: int, extra: int = 400, seed: int = 1, columns: int = 1) -> list:
    """Returns columns of test words: range ends in every pair, then random words."""
    ends = [0, 1, 2, 31, 32, 33, 255, 256]
    top = 1 << width - 1
    ends += [top - 1, top, top + 1, 2 * top - 1, 2 * top - 2]
    dtype = np.dtype(f"u{width // 8}")
    edge = np.unique(np.array([end % (2 * top) for end in ends], dtype))
    return _columns(edge, dtype, extra, seed, columns)


def floats(kind: str, extra: int = 400, seed: int = 1, columns: int = 1) -> list:
    """Returns columns of floats' bits: special values in every pair, then others.

    A third of the others has any bits, a third moderate exponents, and a third nearly
    the same exponent in all columns, so that sums cancel and products underflow.
    """
    width, fraction, bias = FLOATS[kind]
    one = bias << fraction
    infinity = (2 * bias + 1) << fraction
    sizes = [0, 1, 2, (1 << fraction) - 1, 1 << fraction, (1 << fraction) + 1]
    sizes += [one - 1, one, one + 1, one + (1 << fraction), one - (1 << fraction)]
    sizes += [infinity - 1, infinity, infinity + 1, (1 << width - 1) - 1]
    sizes += [
        one + (3 << fraction - 1),
        one + (5 << fraction) + 12345 % (1 << fraction),
    ]
    top = 1 << width - 1
    dtype = np.dtype(f"u{width // 8}")
    edge = np.array([size | sign for size in sizes for sign in (0, top)], dtype)
    result = _columns(edge, dtype, extra, seed, columns)
    random = np.random.default_rng(seed + 1)
    third = extra // 3
    shared = random.integers(0, 2 * bias, third)
    for column in result:
        mantissa = random.integers(0, 1 << fraction, 2 * third)
        sign = random.integers(0, 2, 2 * third)
        near = shared + random.integers(-3, 4, third)
        moderate = random.integers(bias - 12, bias + 12, third)
        exponent = np.clip(np.concatenate([near, moderate]), 0, 2 * bias)
        column[-2 * third :] = (
            mantissa.astype(np.uint64)
            | exponent.astype(np.uint64) << np.uint64(fraction)
            | sign.astype(np.uint64) << np.uint64(width - 1)
        )
    return result


# Width, bits of the fraction, bias.
FLOATS = {
    "f16": (16, 10, 15),
    "bf16": (16, 7, 127),
    "f32": (32, 23, 127),
    "f64": (64, 52, 1023),
}


def _columns(
    edge: np.ndarray, dtype: np.dtype, extra: int, seed: int, columns: int
) -> list:
    if columns > 2:
        edge = edge[:: max(1, len(edge) ** 3 // 4000)] if len(edge) > 16 else edge
    grid = np.meshgrid(*[edge] * columns, indexing="ij")
    random = np.random.default_rng(seed)
    high = int(np.iinfo(dtype).max)
    return [
        np.concatenate(
            [axis.ravel(), random.integers(0, high, extra, dtype, endpoint=True)]
        )
        for axis in grid
    ]
