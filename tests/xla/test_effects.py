"""has_side_effect: not dropped, not merged, in order; and what is pure without it.

Kernels say what they do with printf, which comes out as they run on the CPU.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P
from support.exported import call_elsewhere

import jax_rawcuda as rc

MODULE = rc.compile_nvrtc("""
__global__ void say(const float* x, int tag) {
  if (threadIdx.x == 0) printf("%d:%g ", tag, x[0]);
}
__global__ void scale(const float* x, float* out, int n) {
  int i = threadIdx.x;
  if (i == 0) printf("s%g ", x[0]);
  if (i < n) out[i] = 2 * x[i];
}
__global__ void add_to(const float* x, float* total, int n) {
  int i = threadIdx.x;
  if (i == 0) printf("t%g ", total[0]);
  if (i < n) total[i] += x[i];
}
__global__ void wide(const float4* x, float4* out, int n) {
  int i = threadIdx.x;
  if (i == 0) printf("w%g ", x[0].x);
  if (i < n) out[i] = x[i];
}
""")


def kernel(name, shapes, **how):
    how.setdefault("has_side_effect", True)
    return rc.kernel(MODULE, name, shapes=shapes, threads="n", block=64, **how)


say = kernel("say", "n ->")
scale = kernel("scale", "n -> n")
pure = kernel("scale", "n -> n", has_side_effect=False)
add_to = kernel("add_to", "n, n ->", in_out="total")


@rc.op(has_side_effect=True)
def double_say(s, x):
    say(x, 1)
    say(x, 2)


@rc.op
def silent(s, x):
    say(scale(x), 1)


@rc.op
def around(s, x):
    """Has an effect since what it records has one."""
    return scale(x)


@pytest.fixture
def x():
    return jnp.arange(3, dtype=jnp.float32) + 1


@pytest.fixture
def said(capfd):
    """Runs a function; returns what its kernels say, and what it returns."""

    def run(function, *args):
        result = jax.block_until_ready(function(*args))
        jax.effects_barrier()
        return capfd.readouterr().out.split(), result

    return run


def test_what_nobody_needs_runs(x, said):
    def program(x):
        scale(x)
        say(x, 4)
        double_say(x)
        return x + 1

    assert said(jax.jit(program), x)[0] == ["s1", "4:1", "1:1", "2:1"]
    assert said(program, x)[0] == ["s1", "4:1", "1:1", "2:1"]


def test_without_it_what_nobody_needs_is_left_out(x, said):
    def program(x):
        pure(x)
        return x + 1

    assert said(jax.jit(program), x)[0] == []
    assert said(program, x)[0] == ["s1"]  # at once: each call is a program of its own


def test_equal_calls_are_several(x, said):
    heard, result = said(jax.jit(lambda x: scale(x) + scale(x)), x)
    assert heard == ["s1", "s1"]
    np.testing.assert_array_equal(result, 4 * x)


def test_without_it_equal_calls_are_one(x, said):
    heard, result = said(jax.jit(lambda x: pure(x) + pure(x)), x)
    assert heard == ["s1"]
    np.testing.assert_array_equal(result, 4 * x)


def test_calls_that_need_nothing_of_each_other_keep_their_order(x, said):
    slow = jnp.eye(400, dtype=jnp.float32)

    def program(x, slow):
        for _ in range(5):
            slow = slow @ slow
        scale(slow[0, :3])  # has to wait for it
        for tag in (5, 4, 3):
            say(x, tag)
        around(x)

    heard, _ = said(jax.jit(program), x, slow)
    assert heard == ["s1", "5:1", "4:1", "3:1", "s1"]


def loop(x):
    return jax.lax.fori_loop(0, 2, lambda _, c: (say(c, 7), scale(c))[1], x)


def while_loop(x):
    return jax.lax.while_loop(lambda c: c[0] < 4, lambda c: (say(c, 8), scale(c))[1], x)


def branch(x):
    return jax.lax.cond(
        x[0] > 0, lambda x: (say(x, 1), scale(x))[1], lambda x: (say(x, 2), x)[1], x
    )


def custom(x):
    f = jax.custom_vjp(lambda x: scale(x).sum())
    f.defvjp(
        lambda x: (scale(x).sum(), x),
        lambda x, ct: (say(x, 9), jnp.full(3, 2 * ct))[1:],
    )
    return jax.grad(f)(x) * x


def beside_a_gradient(x):
    def loss(x):
        say(jax.lax.stop_gradient(x), 5)
        return (x**2).sum()

    return jax.grad(loss)(x)


def through_checkpoint(x):
    doubled = jax.custom_vjp(scale)
    doubled.defvjp(lambda x: (scale(x), None), lambda _, ct: (2 * ct,))

    @jax.checkpoint
    def loss(x):
        say(jax.lax.stop_gradient(x), 5)
        return (doubled(x) ** 2).sum() / 4  # whose derivative needs the result

    return jax.grad(loss)(x)


def in_place(x):
    return add_to(x, add_to(x, jnp.zeros_like(x)))


PROGRAMS = {
    loop: ["7:1", "s1", "7:2", "s2"],
    while_loop: ["8:1", "s1", "8:2", "s2"],
    branch: ["1:1", "s1"],
    custom: ["s1", "9:1"],
    beside_a_gradient: ["5:1"],
    through_checkpoint: ["5:1", "s1"],
    in_place: ["t0", "t1"],
    around: ["s1"],
}


@pytest.mark.parametrize("transform", [lambda f: f, jax.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_programs(x, said, program, transform):
    heard, result = said(transform(program), x)
    assert heard == PROGRAMS[program]
    factor = 4 if program in (loop, while_loop) else 2
    np.testing.assert_array_equal(result, factor * x)


@pytest.mark.parametrize("program", [loop, branch], ids=lambda p: p.__name__)
def test_programs_without_jit(x, said, program):
    with jax.disable_jit():
        assert said(program, x)[0] == PROGRAMS[program]


def test_a_batch(x, said):
    batch = jnp.stack([x, x + 1])
    heard, result = said(jax.jit(jax.vmap(lambda x: (say(x, 6), scale(x))[1])), batch)
    assert heard == ["6:1", "6:2", "s1", "s2"]
    np.testing.assert_array_equal(result, 2 * batch)
    # A call that has no batched operand is one call.
    assert said(jax.vmap(lambda y: (say(x, 6), y)[1]), batch)[0] == ["6:1"]


def test_a_batch_whose_elements_are_padded(said, rng):
    wide = kernel("wide", "n 4 -> n 4")

    @rc.op
    def bare(s, x):
        out = s.alloc_output(x.shape, x.dtype)
        wide_function = MODULE.function("wide")
        s.launch(wide_function, rc.LaunchConfig(1, 32), x[:4], out[:4], 1)
        s.copy_bytes(out[4:], x[4:])
        return out

    loud = rc.op(lambda s, x: bare(x), name="loud", has_side_effect=True)  # noqa: ARG005
    batch = jnp.asarray(rng.standard_normal((2, 5)).astype(np.float32))
    heard, result = said(jax.jit(jax.vmap(loud)), batch)
    assert heard == [f"w{row[0]:g}" for row in batch]
    np.testing.assert_array_equal(result, batch)
    wide(jnp.ones((2, 4)))


def test_of_a_batch_both_branches_run(x, said):
    """As JAX does it: a `cond` of mapped predicates becomes a `select`."""

    def program(p):
        return jax.lax.cond(p > 1, lambda x: scale(x), lambda x: (say(x, 2), x)[1], x)

    heard, result = said(jax.jit(jax.vmap(program)), jnp.arange(3))
    assert sorted(heard) == ["2:1"] * 3 + ["s1"] * 3
    np.testing.assert_array_equal(result, [x, x, 2 * x])


@pytest.fixture
def mesh():
    return jax.make_mesh((2,), ("d",), devices=jax.devices("cpu")[:2])


def test_in_shard_map_it_happens_once_per_device(said, mesh):
    x = jax.device_put(np.arange(4, dtype=np.float32), NamedSharding(mesh, P("d")))
    mapped = jax.shard_map(scale, mesh=mesh, in_specs=P("d"), out_specs=P("d"))
    for transform in (lambda f: f, jax.jit):
        heard, result = said(transform(mapped), x)
        assert sorted(heard) == ["s0", "s2"]
        np.testing.assert_array_equal(result, 2 * x)


@pytest.mark.parametrize("transform", [lambda f: f, jax.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("spec", [P("d"), P()], ids=str)
def test_elsewhere_on_several_devices_it_is_refused(mesh, spec, transform):
    x = jax.device_put(jnp.arange(4.0), NamedSharding(mesh, spec))
    text = (
        "^scale: it has side effects in a program that runs on 2 devices, and nothing "
        r"says on which of them\. Call it in jax\.shard_map over all axes of the mesh: "
        r"it happens once per device\.$"
    )
    with pytest.raises(rc.UnsupportedError, match=text):
        transform(scale)(x)


def test_a_kernel_that_only_has_an_effect_needs_no_declaration_of_results(x, said):
    bare = rc.kernel(MODULE, "say", threads=32, has_side_effect=True)
    heard, result = said(jax.jit(lambda x: bare(x, 3)), x)
    assert heard == ["3:1"]
    assert result == ()
    assert said(silent, x) == (["s1", "1:2"], None)


def test_workspaces_and_several_launches(x, said):
    @rc.op(has_side_effect=True)
    def twice(s, x):
        space = s.alloc_bytes(x.byte_len)
        out = s.alloc_output(x.shape, x.dtype)
        config = rc.LaunchConfig(1, 32)
        s.launch(MODULE.function("scale"), config, x, space, 3)
        s.launch(MODULE.function("scale"), config, space, out, 3)
        return out

    heard, result = said(jax.jit(lambda x: (twice(x), twice(x))), x)
    assert heard == ["s1", "s2"] * 2
    np.testing.assert_array_equal(result[1], 4 * x)


def test_an_exported_program_has_it(x, tmp_path):
    checks = rc.export_safety_checks()
    exported = jax.export.export(jax.jit(in_place), disabled_checks=checks)(x)
    assert len(exported.ordered_effects) == 1
    np.testing.assert_array_equal(call_elsewhere(exported, x, tmp_path), 2 * x)


def test_what_has_an_effect_is_said():
    (equation,) = jax.make_jaxpr(lambda x: scale(x))(jnp.ones(3)).eqns
    assert str(equation.effects) == "{side effect of scale}"
    (equation,) = jax.make_jaxpr(lambda x: pure(x))(jnp.ones(3)).eqns
    assert not equation.effects
