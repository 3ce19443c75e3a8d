"""Moves, memory in every space, atomics, asynchronous copies and mbarriers."""

from __future__ import annotations

from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest
from support.exact import FORMATS, NAN, add, decode
from support.ptx_checks import typed
from support.ptx_runner import Form, bits, floats, run

from jax_rawcuda import UnsupportedError

pytest.importorskip("llvmlite")
# Each thread has its own 32 bytes of shared memory, at %w0 and, generic, at %addr.
CELLS = ".extern .shared .align 16 .b8 cells[];\n"
CELL = """
mov.u32 %w0, cells; mad.lo.u32 %w0, %x, 32, %w0;
cvt.u64.u32 %addr, %w0; cvta.shared.u64 %addr, %addr;
"""


def cell(text: str, sources: tuple[str, ...], results: tuple[str, ...]) -> Form:
    return Form(CELL + text, sources, results, CELLS)


# Moves


def test_pack_and_unpack() -> None:
    a, b = bits(32, columns=2)
    (pair,) = run(Form("mov.b64 %d, {%a, %b};", ("b32", "b32"), ("b64",)), a, b)
    np.testing.assert_array_equal(pair, a | b.astype(np.uint64) << 32)
    form = Form("mov.b64 {%d, %q}, %a;", ("b64",), ("b32", "b32"))
    low, high = run(form, pair)
    np.testing.assert_array_equal([low, high], [a, b])
    form = Form("mov.b32 {%h0, _}, %a; mov.b32 %d, {%h0, %h0};", ("b32",))
    (twice,) = run(form, a)
    np.testing.assert_array_equal(twice, a & 0xFFFF | a << 16)


# Loads and stores


@pytest.mark.parametrize("space", ["shared", "generic", "shared::cta"])
@pytest.mark.parametrize("order", ["", "volatile.", "relaxed.cta.", "acquire.gpu."])
@pytest.mark.parametrize("width", [8, 16, 32, 64])
def test_spaces(width: int, order: str, space: str) -> None:
    place = "[%addr+8]" if space == "generic" else "[%w0+8]"
    where = "" if space == "generic" else f"{space}."
    kind = f"b{width}"
    load, store = (
        f"ld.{order}{where}",
        f"st.{order.replace('acquire', 'release')}{where}",
    )
    text = f"{store}{kind} {place}, %a; {load}{kind} %d, {place};"
    (a,) = bits(max(width, 16))
    a = a.astype(f"u{width // 8}")
    (result,) = run(cell(text, (kind,), (kind,)), a)
    np.testing.assert_array_equal(result, a)


def test_narrow_loads_extend() -> None:
    (a,) = bits(32)
    text = "st.shared.b32 [%w0], %a; ld.shared.s8 %d, [%w0]; ld.shared.u8 %q, [%w0];"
    signed, unsigned = run(cell(text, ("b32",), ("b32", "b32")), a)
    np.testing.assert_array_equal(signed.view(np.int32), a.astype(np.int8))
    np.testing.assert_array_equal(unsigned, a & 0xFF)


def test_vectors_and_hints() -> None:
    a, b = bits(32, columns=2)
    text = """
    st.shared.v4.b32 [%w0], {%a, %b, %b, %a};
    ld.L1::evict_last.L2::128B.v4.b32 {%d, %q, %w0, %w1}, [%addr];
    xor.b32 %d, %d, %w0; xor.b32 %q, %q, %w1;
    """
    first, second = run(cell(text, ("b32", "b32"), ("b32", "b32")), a, b)
    np.testing.assert_array_equal(first, a ^ b)
    np.testing.assert_array_equal(second, a ^ b)


def test_a_vector_load_may_overwrite_its_address() -> None:
    (a,) = bits(32)
    text = "st.shared.v2.b32 [%w0], {%a, %a}; ld.shared.v2.b32 {%w0, %d}, [%w0];"
    (result,) = run(cell(text, ("b32",), ("b32",)), a)
    np.testing.assert_array_equal(result, a)


def test_local_memory() -> None:
    (a,) = bits(32)
    text = """
    .local .align 4 .b8 slots[16];
    .reg .b64 %l, %g; mov.u64 %l, slots; cvta.local.u64 %g, %l;
    st.local.b32 [%l+4], %a; ld.b32 %d, [%g+4];
    """
    (value,) = run(cell(text, ("b32",), ("b32",)), a)
    np.testing.assert_array_equal(value, a)


def test_fences_and_hints_are_accepted() -> None:
    text = """
    membar.gl; fence.acq_rel.gpu; fence.proxy.async; prefetch.global.L2 [%addr];
    mov.b32 %d, %a;
    """
    (a,) = bits(32)
    (result,) = run(cell(text, ("b32",), ("b32",)), a)
    np.testing.assert_array_equal(result, a)


# Atomics


ATOMICS: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "exch": lambda _, b: b,
    "min": min,
    "max": max,
    "inc": lambda a, b: 0 if a >= b else a + 1,
    "dec": lambda a, b: b if a == 0 or a > b else a - 1,
}
ATOMIC_FORMS = [
    *((op, f"{sign}{width}") for op in ("min", "max", "add") for sign in "us"
      for width in (32, 64)),
    *((op, f"b{width}") for op in ("and", "or", "xor", "exch") for width in (32, 64)),
    ("inc", "u32"),
    ("dec", "u32"),
]  # fmt: skip


@pytest.mark.parametrize("place", ["atom.shared.{} %d, [%w0]", "atom.{} %d, [%addr]"])
@pytest.mark.parametrize(("op", "name"), ATOMIC_FORMS)
def test_integer_atomics(op: str, name: str, place: str) -> None:
    width = int(name[1:])
    read, kind = typed(name, width), f"b{width}"
    a, b = bits(width, columns=2)
    instruction = place.format(f"relaxed.gpu.{op}.{name}") + ", %b;"
    if "shared" in place:
        instruction = place.format(f"{op}.{name}") + ", %b;"
    text = f"st.shared.{kind} [%w0], %a; {instruction} ld.shared.{kind} %q, [%w0];"
    old, new = run(cell(text, (kind, kind), (kind, kind)), a, b)
    np.testing.assert_array_equal(old, a)
    mask = (1 << width) - 1
    pairs = zip(a.tolist(), b.tolist(), strict=True)
    expected = [ATOMICS[op](read(x), read(y)) & mask for x, y in pairs]
    np.testing.assert_array_equal(new, np.array(expected, new.dtype))


@pytest.mark.parametrize("width", [16, 32, 64])
def test_compare_and_swap(width: int) -> None:
    kind = f"b{width}"
    a, b = bits(width, columns=2)
    text = (
        f"st.shared.{kind} [%w0], %a; atom.acq_rel.gpu.shared.cas.{kind} %d, [%w0], "
        f"%b, %c; ld.shared.{kind} %q, [%w0];"
    )
    c = np.roll(a, 3)
    old, new = run(cell(text, (kind,) * 3, (kind, kind)), a, b, c)
    np.testing.assert_array_equal(old, a)
    np.testing.assert_array_equal(new, np.where(a == b, c, a))


@pytest.mark.parametrize("word", ["add", "min", "max"])
@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_atomics_on_pairs(dtype, word: str) -> None:
    kind = "f16x2" if dtype is np.float16 else "bf16x2"
    name = f"{word}.noftz.{kind}" if word == "add" else f"{word}.{kind}"
    text = (
        f"st.shared.b32 [%w0], %a; atom.shared.{name} %d, [%w0], %b; "
        "ld.shared.b32 %q, [%w0];"
    )
    rng = np.random.default_rng(12)
    a, b = (rng.normal(size=800).astype(dtype) for _ in range(2))
    sources = a.view(np.uint32), b.view(np.uint32)
    old, new = run(cell(text, ("b32",) * 2, ("b32",) * 2), *sources)
    np.testing.assert_array_equal(old, a.view(np.uint32))
    expected = {"add": np.add, "min": np.minimum, "max": np.maximum}[word](a, b)
    np.testing.assert_array_equal(new.view(dtype), expected)


@pytest.mark.parametrize("opcode", ["atom", "red"])
@pytest.mark.parametrize("name", ["f32", "f64", "noftz.f16", "noftz.bf16"])
def test_float_atomics(name: str, opcode: str) -> None:
    kind = name.removeprefix("noftz.")
    form = FORMATS[kind]
    word = f"b{form.width}"
    destination = "%d, " if opcode == "atom" else ""
    text = (
        f"st.shared.{word} [%w0], %a; mov.b{form.width} %d, %a; "
        f"{opcode}.shared.add.{name} {destination}[%w0], %b; "
        f"ld.shared.{word} %q, [%w0];"
    )
    a, b = floats(kind, columns=2)
    old, new = run(cell(text, (word, word), (word, word)), a, b)
    np.testing.assert_array_equal(old, a)
    for x, y, got in zip(a.tolist(), b.tolist(), new.tolist(), strict=True):
        expected = add(x, y, form)
        if expected == NAN:
            assert decode(got, form)[1] is None
        else:
            assert got == expected


def test_vector_reduction() -> None:
    a, b = (x.astype(np.float32).view(np.uint32) for x in np.eye(2))
    text = """
    st.shared.v2.b32 [%w0], {%a, %b}; red.v2.f32.add [%addr], {%b, %a};
    ld.shared.v2.b32 {%d, %q}, [%w0];
    """.replace("red.v2", "red.global.v2")
    first, second = run(cell(text, ("b32", "b32"), ("b32", "b32")), a, b)
    assert (first.view(np.float32) == 1).all()
    assert (second.view(np.float32) == 1).all()


# Asynchronous copies


@pytest.mark.parametrize("size", [4, 8, 16])
def test_copies(size: int) -> None:
    a, b = bits(32, columns=2)
    text = f"""
    st.shared.v4.b32 [%w0], {{%a, %b, %a, %b}};
    cp.async.ca.shared.global [%w0+16], [%addr], {size};
    cp.async.commit_group; cp.async.wait_group 0;
    ld.shared.v2.b32 {{%d, %q}}, [%w0+{16 + size - 4 & ~7}];
    """
    first, second = run(cell(text, ("b32", "b32"), ("b32", "b32")), a, b)
    np.testing.assert_array_equal(first, a)
    if size > 4:
        np.testing.assert_array_equal(second, b)


def test_copy_fills_with_zeros() -> None:
    a, b = bits(32, columns=2)
    text = """
    st.shared.v4.b32 [%w0], {%a, %b, %a, %b}; mov.u32 %w1, 4;
    cp.async.cg.shared.global [%w0+16], [%addr], 16, %w1; cp.async.wait_all;
    ld.shared.v2.b32 {%d, %q}, [%w0+16];
    """
    first, second = run(cell(text, ("b32", "b32"), ("b32", "b32")), a, b)
    np.testing.assert_array_equal(first, a)
    assert not second.any()


def test_bulk_copy_completes_a_barrier() -> None:
    a, b = bits(32, columns=2)
    text = """
    .reg .b64 %state;
    st.shared.v4.b32 [%w0], {%a, %b, %a, %b};
    .shared .align 8 .b64 bar; mov.u32 %w1, bar;
    mbarrier.init.shared::cta.b64 [%w1], 1;
    mbarrier.arrive.expect_tx.shared::cta.b64 %state, [%w1], 16;
    mbarrier.test_wait.shared::cta.b64 %t, [%w1], %state; selp.b32 %d, 1, 0, %t;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes
        [%w0+16], [%addr], 16, [%w1];
    mbarrier.try_wait.parity.shared::cta.b64 %t, [%w1], 0; selp.b32 %q, 1, 0, %t;
    """
    before, after = run(cell(text, ("b32", "b32"), ("b32", "b32")), a, b)
    assert not before.any()
    assert after.all()


# Refusals


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("tex.1d.v4.f32.s32 {%a, %a, %a, %a}, [%addr, {%a}];", "textures"),
        ("wgmma.fence.sync.aligned;", "tensor-core"),
        ("vadd4.u32.u32.u32 %d, %a, %a, %a;", "video"),
        ("add.rn.madeup.f32 %d, %a, %a;", ".madeup"),
        ("madeup.b32 %d, %a;", "madeup"),
    ],
)
def test_refusals_name_the_instruction(text: str, why: str) -> None:
    with pytest.raises(UnsupportedError, match=why):
        run(Form(text, ("b32",)), np.zeros(1, np.uint32))
