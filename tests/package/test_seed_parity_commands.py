"""The raw-session model, row by row: launches, modules, streams."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support.seed_parity import AXPY, FLAT
from support.seed_parity import x as x

import jax_rawcuda as rc
from jax_rawcuda._compile.target import Target

MODULE = rc.compile_nvrtc(
    AXPY
    + r"""
struct Pair { short a; double b; };
__global__ void scalars(unsigned u32, int i32, unsigned long long u64, long long i64,
                        float f32, double f64, __half f16, __nv_bfloat16 bf16,
                        bool flag, Pair pair, double* out) {
  double all[] = {double(u32), double(i32), double(u64), double(i64), f32, f64,
                  double(float(f16)), double(float(bf16)), double(flag),
                  double(pair.a), pair.b};
  for (int i = 0; i < 11; ++i) out[i] = all[i];
}
"""
)


pytestmark = pytest.mark.usefixtures("default_device")


def test_launches_and_their_geometry(x):
    """`launch`, `LaunchConfig`, `flat`; zero threads launch nothing."""
    assert rc.LaunchConfig.flat(1000, 256, 64) == rc.LaunchConfig(4, 256, 64)
    assert rc.LaunchConfig.flat(0, 32).is_empty
    for wrong in ({"grid": -1}, {"block": 0}, {"block": 1025}, {"block": (1, 1, 65)}):
        with pytest.raises(rc.ValidationError):
            rc.LaunchConfig(**({"grid": 1, "block": 1} | wrong))

    @rc.op
    def launches(s, x, *, threads):
        out = s.alloc_output(x.shape, x.dtype, fill=-1)
        config = rc.LaunchConfig.flat(threads, 4)
        s.launch(MODULE.function("axpy"), config, x, 1.0, out, 8)
        return out

    np.testing.assert_array_equal(launches(x, threads=8), x + 1)
    np.testing.assert_array_equal(launches(x, threads=0), np.full(8, -1))


def test_scalar_arguments():
    """`KernelArg`: every kind, beside Python numbers, which take the kernel's type."""
    pair = np.array(
        (-3, 0.25), np.dtype([("a", np.int16), ("b", np.float64)], align=True)
    )
    values = [2**32 - 1, -(2**31), 2**50, -(2**50), 0.5, 0.1, 1.5, 2.5, True]
    kinds = ["u32", "i32", "u64", "i64", "f32", "f64", "f16", "bf16"]

    @rc.op
    def take(s, *, explicit):
        out = s.alloc_bytes(88)
        arguments = [*values, pair]
        if explicit:
            arguments = [
                getattr(rc.KernelArg, kind)(value)
                for kind, value in zip(kinds, values[:8], strict=True)
            ]
            arguments += [rc.KernelArg.scalar(b"\1"), rc.KernelArg.scalar(pair)]
        s.launch(MODULE.function("scalars"), rc.LaunchConfig(1, 1), *arguments, out)
        result = s.alloc_output(88, jnp.uint8)
        s.copy_bytes(result, out)
        return result

    for explicit in (False, True):
        got = np.asarray(take(explicit=explicit)).view(np.float64)
        np.testing.assert_array_equal(got, [*values, -3, 0.25])


def test_synchronize(x):
    """`synchronize`: the host waits, so XLA must not capture the call."""

    @rc.op
    def waits(s, x):
        out = s.alloc_output(x.shape, x.dtype)
        s.launch(MODULE.function("axpy"), FLAT, x, 1.0, out, 8)
        s.synchronize()
        return out

    np.testing.assert_array_equal(waits(x), x + 1)
    assert "session_sync_v1" in jax.jit(waits).lower(x).as_text()


def test_the_stream_is_opaque(x):
    """`StreamRef`: no handle while recording, none to keep, none to make."""

    @rc.op
    def look(s, x):
        stream = s.stream()
        assert not hasattr(stream, "raw_handle")
        stream.unsafe_raw_handle()
        return x

    message = "^look: a recorded session has no stream handle"
    with pytest.raises(rc.SessionError, match=message):
        look(x)


def test_modules_from_inside(x):
    """`compile_nvrtc`, `load_ptx`, `load_cubin` are methods of the session too."""
    text = "__global__ void twice(const float* x, float* out) { out[0] = 2 * x[0]; }"
    image = rc.compile_nvrtc(text).function("twice").image(Target("cuda", "sm_90"))

    @rc.op
    def compiles(s, x):
        compiled = s.compile_nvrtc(text)
        ptx = compiled.function("twice").image(Target("cuda", "compute_90")).data
        loaded = s.load_ptx(ptx)
        assert (
            s.load_cubin(image.data).kernel_names == loaded.kernel_names == ("twice",)
        )
        outs = [s.alloc_output(1, jnp.float32) for _ in range(2)]
        for module, out in zip((compiled, loaded), outs, strict=True):
            s.launch(module.function("twice"), rc.LaunchConfig(1, 1), x, out)
        return outs

    first, second = compiles(x)
    assert first == second == 2 * x[0]
