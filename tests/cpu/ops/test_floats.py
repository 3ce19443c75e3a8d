"""Floating-point instructions against exact arithmetic, in every rounding mode."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from support import exact as _exact
from support.exact import FORMATS, NAN
from support.ptx_checks import check_floats, flushed
from support.ptx_runner import Form, floats, run

pytest.importorskip("llvmlite")
MODES = ("rn", "rz", "rm", "rp")


def sources(kind: str, count: int) -> list[np.ndarray]:
    return floats(kind, columns=count)


def with_ftz(function: Callable[..., int | str], kind: str) -> Callable[..., int | str]:
    def reference(*values: int) -> int | str:
        result = function(*(flushed(v, kind) for v in values))
        return result if isinstance(result, str) else flushed(result, kind)

    return reference


def saturated(function: Callable[..., int | str], kind: str) -> Callable[..., int]:
    form = FORMATS[kind]
    one = form.bias << form.fraction

    def reference(*values: int) -> int:
        result = function(*values)
        if isinstance(result, str) or result & form.sign:
            return 0
        return min(result, one)

    return reference


OPERATIONS: dict[str, tuple[int, Callable[..., int | str]]] = {
    "add": (2, _exact.add),
    "sub": (2, lambda a, b, form, mode="rn": _exact.add(a, b ^ form.sign, form, mode)),
    "mul": (2, _exact.mul),
    "div": (2, _exact.div),
    "fma": (3, _exact.fma),
    "sqrt": (1, _exact.sqrt),
    "rcp": (
        1,
        lambda a, form, mode="rn": _exact.div(
            form.bias << form.fraction, a, form, mode
        ),
    ),
}


def _operation(
    op: str, kind: str, mode: str
) -> tuple[Form, Callable[..., int | str], list[np.ndarray]]:
    count, function = OPERATIONS[op]
    form = FORMATS[kind]
    width = f"b{form.width}"
    registers = ", ".join(("%d", "%a", "%b", "%c")[: count + 1])
    text = f"{op}.{mode}.{kind} {registers};"
    return (
        Form(text, (width,) * count, (width,)),
        lambda *v: function(*v, form, mode),
        sources(kind, count),
    )


@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("op", OPERATIONS)
def test_rounding(op: str, mode: str, kind: str) -> None:
    form, reference, columns = _operation(op, kind, mode)
    check_floats(form, reference, columns, kind)


@pytest.mark.parametrize("mode", ["rn", "rm"])
@pytest.mark.parametrize("op", OPERATIONS)
def test_flush_to_zero(op: str, mode: str) -> None:
    form, reference, columns = _operation(op, "f32", f"{mode}")
    text = form.text.replace(f".{mode}.", f".{mode}.ftz.")
    form = Form(text, form.sources, form.results)
    check_floats(form, with_ftz(reference, "f32"), columns, "f32")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("op", ["add", "sub", "mul", "fma"])
def test_saturation(op: str, mode: str) -> None:
    form, reference, columns = _operation(op, "f32", mode)
    text = form.text.replace(".f32", ".sat.f32")
    form = Form(text, form.sources, form.results)
    check_floats(form, saturated(reference, "f32"), columns, "f32")


HALVES = ("f16", "bf16")


@pytest.mark.parametrize("suffix", ["", ".relu", ".sat", ".ftz"])
@pytest.mark.parametrize("kind", HALVES)
@pytest.mark.parametrize("op", ["add", "sub", "mul", "fma"])
def test_halves(op: str, kind: str, suffix: str) -> None:
    if suffix == ".sat" and kind == "bf16":
        pytest.skip("no .sat for bf16")
    form, reference, columns = _operation(op, kind, "rn")
    plain = reference
    if suffix == ".relu":

        def reference(*values: int) -> int | str:
            result = plain(*values)
            negative = not isinstance(result, str) and result >> 15
            return 0 if negative else result

    elif suffix == ".sat":
        reference = saturated(plain, kind)
    elif suffix == ".ftz":
        reference = with_ftz(plain, kind)
    text = form.text.replace(".rn", f".rn{suffix}")
    check_floats(Form(text, form.sources, form.results), reference, columns, kind)


@pytest.mark.parametrize("kind", HALVES)
@pytest.mark.parametrize("op", ["add", "mul", "fma"])
def test_packed_halves(op: str, kind: str) -> None:
    """Each half of a pair is computed on its own."""
    form, _, columns = _operation(op, kind, "rn")
    registers = form.text.split(" ", 1)[1]
    packed = Form(f"{op}.rn.{kind}x2 {registers}", ("b32",) * len(columns), ("b32",))
    words = [
        column.astype(np.uint32) | np.roll(column, 1).astype(np.uint32) << 16
        for column in columns
    ]
    (result,) = run(packed, *words)
    (single,) = run(form, *columns)
    np.testing.assert_array_equal(result & 0xFFFF, single)
    np.testing.assert_array_equal(result >> 16, np.roll(single, 1))


def _extreme(op: str, kind: str, modifiers: str) -> Callable[[int, int], int | str]:
    form = FORMATS[kind]
    choose = _exact.smallest if op == "min" else _exact.largest

    def reference(a: int, b: int) -> int | str:
        x, y = a, b
        if ".xorsign" in modifiers:
            x, y = a & ~form.sign, b & ~form.sign
        values = [_exact.decode(v, form)[1] for v in (a, b)]
        if ".NaN" in modifiers and None in values:
            return NAN
        result = choose(x, y, form)
        if ".xorsign" in modifiers and not isinstance(result, str):
            result |= (a ^ b) & form.sign
        return result

    return reference


@pytest.mark.parametrize("modifiers", ["", ".NaN", ".xorsign.abs", ".NaN.xorsign.abs"])
@pytest.mark.parametrize("kind", ["f32", "f64", "f16", "bf16"])
@pytest.mark.parametrize("op", ["min", "max"])
def test_extremes(op: str, kind: str, modifiers: str) -> None:
    if kind == "f64" and modifiers:
        pytest.skip("f64 has no such form")
    width = f"b{FORMATS[kind].width}"
    form = Form(f"{op}{modifiers}.{kind} %d, %a, %b;", (width, width), (width,))
    check_floats(form, _extreme(op, kind, modifiers), sources(kind, 2), kind)


@pytest.mark.parametrize("kind", ["f32", "f64", "f16", "bf16"])
def test_signs(kind: str) -> None:
    form = FORMATS[kind]
    width = f"b{form.width}"
    (column,) = sources(kind, 1)
    for op, reference in {
        "neg": lambda a: a ^ form.sign,
        "abs": lambda a: a & ~form.sign,
    }.items():
        (result,) = run(Form(f"{op}.{kind} %d, %a;", (width,), (width,)), column)
        want = [reference(v) for v in column.tolist()]
        if kind.endswith("f16"):  # any NaN becomes the canonical one
            want = [
                form.sign - 1 if v & form.sign - 1 > form.infinity else v for v in want
            ]
        np.testing.assert_array_equal(result, want)


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_copysign(kind: str) -> None:
    form = FORMATS[kind]
    width = f"b{form.width}"
    a, b = sources(kind, 2)
    instruction = Form(f"copysign.{kind} %d, %a, %b;", (width, width), (width,))
    (result,) = run(instruction, a, b)
    top = np.array(form.sign, a.dtype)
    np.testing.assert_array_equal(result, a & top | b & ~top)


CLASSES = {
    "finite": np.isfinite,
    "infinite": np.isinf,
    "number": lambda x: ~np.isnan(x),
    "notanumber": np.isnan,
    "normal": lambda x: (x == 0) | np.isfinite(x) & (abs(x) >= np.finfo(x.dtype).tiny),
    "subnormal": lambda x: (x != 0) & (abs(x) < np.finfo(x.dtype).tiny),
}


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("word", CLASSES)
def test_testp(word: str, kind: str) -> None:
    width = FORMATS[kind].width
    (column,) = sources(kind, 1)
    form = Form(f"testp.{word}.{kind} %d, %a;", (f"b{width}",), ("pred",))
    (result,) = run(form, column)
    values = column.view(f"f{width // 8}")
    np.testing.assert_array_equal(result.astype(bool), CLASSES[word](values))


# Approximations: name -> (function, largest error in units of the last place, range).
APPROXIMATE = {
    "ex2.approx.f32": (np.exp2, 2, (-160, 140)),
    "ex2.approx.ftz.f32": (np.exp2, 2, (-125.9, 140)),
    "lg2.approx.f32": (np.log2, 2, (1e-40, 1e38)),
    "sin.approx.f32": (np.sin, 2, (-3.2, 3.2)),
    "cos.approx.f32": (np.cos, 2, (-3.2, 3.2)),
    "tanh.approx.f32": (np.tanh, 3, (-12, 12)),
    "rsqrt.approx.f32": (lambda x: 1 / np.sqrt(x), 1.5, (1e-40, 1e38)),
    "rcp.approx.f32": (lambda x: 1 / x, 1, (1e-37, 1e37)),
    "sqrt.approx.f32": (np.sqrt, 1, (0, 1e38)),
}


@pytest.mark.parametrize("op", APPROXIMATE)
def test_approximations(op: str) -> None:
    function, ulps, (low, high) = APPROXIMATE[op]
    random = np.random.default_rng(3)
    values = random.uniform(low, high, 20000)
    if low > 0:
        values = np.exp(random.uniform(np.log(low), np.log(high), 20000))
    values = values.astype(np.float32)
    (result,) = run(Form(f"{op} %d, %a;", ("b32",)), values.view(np.uint32))
    with np.errstate(over="ignore"):
        exact = function(values.astype(np.float64))
        nearest = exact.astype(np.float32)
    got = result.view(np.float32)
    infinite = np.isinf(nearest)
    np.testing.assert_array_equal(got[infinite], nearest[infinite])
    unit = np.spacing(np.abs(nearest[~infinite])).astype(np.float64)
    assert np.max(np.abs(got[~infinite] - exact[~infinite]) / unit) <= ulps


def test_ex2_of_special_values() -> None:
    values = [0.0, -0.0, 1.0, -126.0, 127.0, 128.0, np.inf, -np.inf, -149.0, -151.0]
    column = np.array([*values, 1e30, -1e30, 1e-40], np.float32)
    expected = [1, 1, 2, 2.0**-126, 2.0**127, np.inf, np.inf, 0, 2.0**-149, 0]
    expected = np.array([*expected, np.inf, 0, 1], np.float32)
    (result,) = run(Form("ex2.approx.f32 %d, %a;", ("b32",)), column.view(np.uint32))
    np.testing.assert_array_equal(result.view(np.float32), expected)
    flushing = Form("ex2.approx.ftz.f32 %d, %a;", ("b32",))
    (result,) = run(flushing, column.view(np.uint32))
    expected[np.abs(expected) < np.finfo(np.float32).tiny] = 0
    np.testing.assert_array_equal(result.view(np.float32), expected)
