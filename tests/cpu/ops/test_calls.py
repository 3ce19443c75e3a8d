"""Calls from PTX: the C library, device functions, function pointers."""

from __future__ import annotations

import numpy as np
import pytest
from support.ptx_runner import Form, bits, run

from jax_rawcuda import UnsupportedError

pytest.importorskip("llvmlite")


def call(name: str, kind: str = "b32", count: int = 1) -> Form:
    """Returns `d = name(a, ...)` of an external function."""
    parameters = [f".param .{kind} p{i}" for i in range(count)]
    lines = [f"{parameter};" for parameter in (*parameters, f".param .{kind} r")]
    registers = ("%a", "%b")[:count]
    lines += [f"st.param.{kind} [p{i}], {r};" for i, r in enumerate(registers)]
    arguments = ", ".join(f"p{i}" for i in range(count))
    lines += [f"call.uni (r), {name}, ({arguments});", f"ld.param.{kind} %d, [r];"]
    text = "{" + " ".join(lines) + "}"
    declared = f".extern .func (.param .{kind} r) {name}({', '.join(parameters)});\n"
    return Form(text, (kind,) * count, (kind,), declared)


@pytest.mark.parametrize(
    ("name", "exact", "low", "high"),
    [("expf", np.exp, -103, 88.7), ("exp2f", np.exp2, -149, 127.9)],
)
def test_inlined_exponentials(name, exact, low, high):
    values = np.random.default_rng(0).uniform(low, high, 50_000)
    values = np.concatenate([values, values / 100]).astype(np.float32)
    (result,) = run(call(name), values.view(np.uint32))
    expected = exact(values.astype(np.float64))
    unit = np.spacing(expected.astype(np.float32)).astype(np.float64)
    assert np.max(np.abs(result.view(np.float32) - expected) / unit) < 1

    special = np.array([0, -0.0, np.inf, -np.inf, 130, -200, np.nan], np.float32)
    (result,) = run(call(name), special.view(np.uint32))
    expected = np.array([1, 1, np.inf, 0, np.inf, 0, np.nan], np.float32)
    np.testing.assert_array_equal(result.view(np.float32), expected)


def test_the_host_library():
    x = np.random.default_rng(1).uniform(0.1, 9, 1000)
    (result,) = run(call("pow", "b64", 2), x.view(np.uint64), x.view(np.uint64))
    np.testing.assert_allclose(result.view(np.float64), x**x, rtol=1e-14)
    (result,) = run(call("sinf"), x.astype(np.float32).view(np.uint32))
    expected = np.sin(x.astype(np.float32))
    np.testing.assert_allclose(result.view(np.float32), expected, rtol=1e-5, atol=1e-7)


def test_unknown_external_functions_are_refused_by_name():
    with pytest.raises(UnsupportedError, match="cudaLaunchDevice"):
        run(call("cudaLaunchDevice"), np.zeros(1, np.uint32))


TWICE = """
.func (.param .b32 r) twice(.param .b32 p)
{ .reg .b32 %v; ld.param.b32 %v, [p]; add.u32 %v, %v, %v; st.param.b32 [r], %v; ret; }
"""


@pytest.mark.parametrize("indirect", [False, True])
def test_device_functions(indirect):
    target = "call.uni (r), twice, (p);"
    if indirect:
        target = """
        mov.u64 %addr, twice;
        prototype_0: .callprototype (.param .b32 _) _ (.param .b32 _);
        call (r), %addr, (p), prototype_0;
        """
    text = f"""{{
    .param .b32 p; .param .b32 r; st.param.b32 [p], %a;
    {target}
    ld.param.b32 %d, [r]; }}"""
    (a,) = bits(32)
    (result,) = run(Form(text, ("b32",), declarations=TWICE), a)
    np.testing.assert_array_equal(result, a * np.uint32(2))
