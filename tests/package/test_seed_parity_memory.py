"""The raw-session model, row by row: memory."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from support.seed_parity import AXPY, FLAT
from support.seed_parity import x as x

import jax_rawcuda as rc

MODULE = rc.compile_nvrtc(
    AXPY
    + r"""
extern "C" __global__ void increment(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += 1;
}
"""
)


pytestmark = pytest.mark.usefixtures("default_device")


def test_operands_are_read_only(x):
    """`TensorRef`: shape, dtype, byte length; no way to write through it."""

    @rc.op
    def look(s, x):
        assert isinstance(x, rc.TensorRef)
        assert (x.shape, x.dtype, x.byte_len) == ((8,), np.float32, 32)
        s.launch(MODULE.function("increment"), FLAT, x, 8)
        return x

    message = r"operand 'x' is a read-only TensorRef, but parameter `float\* x` may"
    with pytest.raises(rc.SignatureError, match=message):
        look(x)


def test_mutable_operands(x):
    """`TensorMut`: in-place use; the caller's array stays as it was."""

    @rc.op
    def bump(s, x):
        x = s.tensor_mut(x)
        assert isinstance(x, rc.TensorMut)
        s.launch(MODULE.function("increment"), FLAT, x, 8)
        return x

    first, second, kept = jax.jit(lambda x: (bump(x), bump(bump(x)), x))(x)
    np.testing.assert_array_equal(first, x + 1)
    np.testing.assert_array_equal(second, x + 1 + 1)
    np.testing.assert_array_equal(kept, x)


def test_outputs(x):
    """`alloc_output`: a new array, undefined until it is written, or filled."""

    @rc.op
    def outputs(s, x):
        out = s.alloc_output(x.shape, x.dtype)
        assert isinstance(out, rc.Output)
        s.launch(MODULE.function("axpy"), FLAT, x, 2.0, out, 8)
        filled = s.alloc_output((2, 3), jnp.bfloat16, fill=1.5)
        return {"out": out, "filled": [filled]}

    got = outputs(x)
    np.testing.assert_allclose(got["out"], 2 * x + 1, rtol=1e-6)
    expected = np.full((2, 3), 1.5, ml_dtypes.bfloat16)
    np.testing.assert_array_equal(got["filled"][0], expected)


def test_workspaces(x):
    """`DeviceBytes`: untyped memory with offsets, empty ones included."""

    @rc.op
    def through(s, x):
        space = s.alloc_bytes(100, fill=0)
        assert isinstance(space, rc.DeviceBytes)
        assert s.alloc_bytes(0).is_empty
        s.copy_bytes(space.at_bytes(12), x, 32)
        out = s.alloc_output(x.shape, x.dtype)
        s.launch(MODULE.function("axpy"), FLAT, space[12:44], 1.0, out, 8)
        return out

    np.testing.assert_array_equal(jax.jit(through)(x), x + 1)


def test_uploaded_bytes(x):
    """`upload_bytes`: host bytes as part of the program."""
    table = np.arange(8, dtype=np.float32)

    @rc.op
    def with_table(s, x):
        out = s.alloc_output(x.shape, x.dtype)
        s.launch(MODULE.function("axpy"), FLAT, s.upload_bytes(table), 3.0, out, 8)
        return out

    np.testing.assert_array_equal(with_table(x), 3 * table + 1)


def test_copies(x):
    """`copy_bytes`: in stream order, spans checked, overlap refused."""

    @rc.op
    def swap(s, x, *, overlap=False):
        out = s.alloc_output(x.shape, x.dtype)
        s.copy_bytes(out[:4], x[4:])
        s.copy_bytes(out[4:], x[:4])
        s.copy_bytes(out[8:], x[8:])
        if overlap:
            s.copy_bytes(out[1:5], out[:4])
        return out

    np.testing.assert_array_equal(swap(x), np.roll(x, 4))
    with pytest.raises(rc.ValidationError, match="source and destination overlap"):
        swap(x, overlap=True)
