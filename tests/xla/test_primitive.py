"""The primitive: abstract values, lowering for both platforms, and batching, no GPU."""

from __future__ import annotations

import functools
import re
from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support.exported import call_elsewhere

import jax_rawcuda as rc
from jax_rawcuda._plan.encode import ABI
from jax_rawcuda._xla.registration import SYNC_TARGET, TARGET

axpy = rc.kernel(
    r"""
extern "C" __global__ void axpy(const float* x,  // f32[n]
                                float* y,        // f32[n], in place
                                float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}""",
    shapes="n, n",
    in_out="y",
    threads="n",
    block=64,
)

SPEC = jax.ShapeDtypeStruct((8,), jnp.float32)


@rc.op
def scratch(s, x):
    """A fill, a workspace and a copy."""
    space = s.alloc_bytes(x.byte_len, fill=0)
    out = s.alloc_output(x.shape, x.dtype)
    s.copy_bytes(out, space)
    return out


@rc.op
def waits(s, x):
    s.synchronize()
    return s.alloc_output(x.shape, x.dtype, fill=0)


def double(x):
    return axpy(x, x, 1.0)


def text_for(platform, function, *specs):
    traced = jax.jit(function).trace(*specs)
    return traced.lower(lowering_platforms=(platform,)).as_text()


@pytest.mark.parametrize("platform", ["cpu", "cuda"])
def test_lowering(platform):
    text = text_for(platform, double, SPEC)
    assert text.count("stablehlo.custom_call") == 1
    assert f"@{TARGET}(" in text
    assert "mhlo.backend_config = {" in text  # the typed interface
    for name in (f"abi = {ABI} : i64", "digest = ", "images = ", "plan = "):
        assert name in text
    assert "output_operand_alias<" in text


@pytest.mark.parametrize("platform", ["cpu", "cuda"])
def test_a_workspace_is_a_hidden_result(platform):
    text = text_for(platform, scratch, SPEC)
    # 32 bytes, and room to start at a multiple of 256 instead of XLA's 64.
    assert re.search(r"\(tensor<8xf32>, tensor<224xui8>\)", text)
    assert jax.eval_shape(scratch, SPEC).shape == (8,)


def test_a_plan_that_waits_has_its_own_target():
    assert f"@{SYNC_TARGET}(" in text_for("cuda", waits, SPEC)


def test_lowering_is_deterministic():
    one, two = (text_for("cuda", lambda x: double(x), SPEC) for _ in range(2))
    assert one == two


def test_equal_plans_share_one_jaxpr_parameter():
    jaxpr = jax.make_jaxpr(lambda x: double(double(x)))(SPEC)
    plans = [e.params["plan"] for e in jaxpr.eqns]
    assert plans[0] == plans[1]
    assert len(str(jaxpr)) < 400


def test_vmap_adds_an_axis_to_the_plan():
    spec = jax.ShapeDtypeStruct((3, 8), jnp.float32)
    jaxpr = jax.make_jaxpr(jax.vmap(scratch))(spec)
    assert [v.aval.shape for v in jaxpr.jaxpr.outvars] == [(3, 8)]
    (equation,) = [e for e in jaxpr.eqns if "plan" in e.params]
    assert equation.params["plan"].batch_shape == (3,)


@pytest.mark.parametrize(
    ("in_axes", "shapes"),
    [
        ((0, 0), [(3, 8), (3, 8)]),
        ((0, None), [(3, 8), (8,)]),
        ((None, 1), [(8,), (8, 3)]),
    ],
)
def test_vmap_types(in_axes, shapes):
    specs = [jax.ShapeDtypeStruct(s, jnp.float32) for s in shapes]
    got = jax.eval_shape(
        jax.vmap(functools.partial(axpy, a=1.0), in_axes=in_axes), *specs
    )
    assert (got.shape, got.dtype) == ((3, 8), jnp.float32)
    nested = jax.eval_shape(
        jax.vmap(jax.vmap(double)), jax.ShapeDtypeStruct((2, 3, 8), jnp.float32)
    )
    assert nested.shape == (2, 3, 8)


def test_no_derivative_names_the_op():
    with pytest.raises(
        rc.UnsupportedError, match=r"axpy has no differentiation rule\."
    ):
        jax.grad(lambda x: double(x).sum())(jnp.ones(8))
    with pytest.raises(NotImplementedError, match=r"through jax\.lax\.stop_gradient"):
        jax.jvp(double, (jnp.ones(8),), (jnp.ones(8),))


def test_export_for_both_platforms():
    exported = jax.export.export(
        jax.jit(double),
        platforms=["cpu", "cuda"],
        disabled_checks=rc.export_safety_checks(),
    )(SPEC)
    again = jax.export.deserialize(exported.serialize())
    x = np.arange(8, dtype=np.float32)
    np.testing.assert_array_equal(again.call(x), 2 * x)


def test_an_exported_program_runs_in_a_fresh_process(tmp_path):
    exported = jax.export.export(
        jax.jit(double), platforms=["cpu"], disabled_checks=rc.export_safety_checks()
    )(SPEC)
    x = np.arange(8, dtype=np.float32)
    np.testing.assert_array_equal(call_elsewhere(exported, x, tmp_path), 2 * x)


def test_a_kernel_records_into_an_op():
    @rc.op
    def twice(s, x, y):
        return axpy(x, axpy(x, s.tensor_mut(y), 1.0), 2.0)

    x = np.arange(8, dtype=np.float32)
    jaxpr = jax.make_jaxpr(twice)(x, x)
    (plan,) = [e.params["plan"] for e in jaxpr.eqns if "plan" in e.params]
    assert len(plan.commands) == 2
    np.testing.assert_array_equal(jax.jit(twice)(x, x), 4 * x)


def test_eight_threads():
    x = np.arange(8, dtype=np.float32)

    def work(i):
        return axpy(x, x, float(i)), jax.jit(lambda x: axpy(x, x, float(-i)))(x)

    with ThreadPoolExecutor(8) as pool:
        for i, (eager, jitted) in enumerate(pool.map(work, range(24))):
            np.testing.assert_array_equal(eager, (1 + i) * x)
            np.testing.assert_array_equal(jitted, (1 - i) * x)


def test_an_unsupported_instruction_is_a_python_error():
    """XLA would only say that the program does not compile."""
    module = rc.load_ptx(
        """
.version 8.0
.target sm_90
.address_size 64
.visible .entry odd(.param .u64 odd_param_0) {
  wgmma.fence.sync.aligned;
  ret;
}
""",
        signature="odd(float* out)",
    )

    @rc.op
    def odd(s):
        out = s.alloc_output(1, jnp.float32)
        s.launch(module.function("odd"), rc.LaunchConfig(1, 1), out)
        return out

    with pytest.raises(rc.UnsupportedError, match="wgmma"):
        jax.jit(odd).lower()


def test_in_shard_map_results_vary_like_the_operands():
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:1]), ("i",))
    spec = jax.sharding.PartitionSpec("i")

    def local(x, shared):
        return axpy(x, shared, 1.0)

    free = jax.sharding.PartitionSpec()
    mapped = jax.shard_map(local, mesh=mesh, in_specs=(spec, free), out_specs=spec)
    x = np.arange(8, dtype=np.float32)
    np.testing.assert_array_equal(jax.jit(mapped)(x, x), 2 * x)
    wrong = jax.shard_map(local, mesh=mesh, in_specs=(spec, free), out_specs=free)
    with pytest.raises(ValueError, match="out_specs"):
        jax.jit(wrong)(x, x)
