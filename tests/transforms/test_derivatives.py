"""Every kind of kernel and op with a rule, under every transformation, beside jnp."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

import jax_rawcuda as rc

MODULE = rc.compile_nvrtc(r"""
#define EACH int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return
extern "C" __global__ void fade(const float* x, const float* w, float* out, int n) {
  EACH;
  out[i] = x[i] * x[i] * w[i];
}
// The derivative of fade in x, times t: symmetric, so it is its own transpose.
extern "C" __global__ void fade_x(const float* x, const float* w, const float* t,
                                  float* out, int n) {
  EACH;
  out[i] = 2 * x[i] * w[i] * t[i];
}
extern "C" __global__ void square_times(const float* x, const float* t, float* out,
                                        int n) {
  EACH;
  out[i] = x[i] * x[i] * t[i];
}
extern "C" __global__ void faded(float* x, const float* w, int n) {
  EACH;
  x[i] = x[i] * x[i] * w[i];
}
extern "C" __global__ void row_sums(const float* x, const float* w, float* out,
                                    int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int c = 0; c < cols; ++c) sum += x[row * cols + c] * x[row * cols + c] * w[c];
  out[row] = sum;
}
extern "C" __global__ void row_sums_x(const float* x, const float* w, const float* ct,
                                      float* grad, int rows, int cols) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * cols) grad[i] = 2 * x[i] * w[i % cols] * ct[i / cols];
}
template <typename T>
__global__ void cut(const T* x, const T* w, T* out, int n) {
  EACH;
  out[i] = T(float(x[i]) * float(x[i]) * float(w[i]));
}
""")


def elementwise(name, operands, **options):
    shapes = f"{', '.join(['n'] * operands)} -> {'' if 'in_out' in options else 'n'}"
    return rc.kernel(MODULE, name, shapes=shapes, threads="n", block=64, **options)


fade_x = elementwise("fade_x", 3)
square_times = elementwise("square_times", 2)


def reverse_rule(function):
    """Gives a function of `x` and `w` the rule of `x * x * w` for reverse mode."""

    def fwd(x, w):
        return function(x, w), (x, w)

    def bwd(residuals, ct):
        x, w = residuals
        return fade_x(x, w, ct), square_times(x, ct)

    function.defvjp(fwd, bwd)
    return function


def forward_rule(function):
    """The same for both modes."""
    along_x = rc.linear(fade_x, fade_x, linear="t")
    along_w = rc.linear(square_times, square_times, linear="t")

    @function.defjvp
    def rule(primals, tangents):
        (x, w), (x_dot, w_dot) = primals, tangents
        return function(x, w), along_x(x, w, x_dot) + along_w(x, w_dot)

    return function


# Several launches and a workspace.
@reverse_rule
@rc.op
def op(s, x, w):
    config = rc.LaunchConfig.flat(x.size, 64)
    square = s.alloc_bytes(x.byte_len)
    out = s.alloc_output(x.shape, x.dtype, fill=1)
    s.launch(MODULE.function("square_times"), config, x, out, square, x.size)
    s.launch(MODULE.function("cut<float>"), config, x, w, out, x.size)
    return out


@reverse_rule
@rc.live_op(out=lambda x, _: x, vmap_method="sequential")
def live(s, x, w, out):
    config = rc.LaunchConfig.flat(x.size, 64)
    s.launch(MODULE.function("fade"), config, x, w, out, x.size)


row_sums = rc.kernel(
    MODULE, "row_sums", shapes="rows cols, cols -> rows", threads="rows", block=64
)
row_sums_x = rc.kernel(
    MODULE,
    "row_sums_x",
    shapes="rows cols, cols, rows -> rows cols",
    threads="rows*cols",
    block=64,
)
row_sums.defvjp(
    lambda x, w: (row_sums(x, w), (x, w)),
    lambda saved, ct: (row_sums_x(*saved, ct), (saved[0] ** 2 * ct[:, None]).sum(0)),
)

cut = elementwise("cut", 2, template=lambda x, _: (x.dtype,))
cut.defvjp(
    lambda x, w: (cut(x, w), (x, w)),
    lambda saved, ct: (2 * saved[0] * saved[1] * ct, cut(saved[0], ct)),
)


@dataclass(frozen=True)
class Case:
    """A function with a rule, `x * x * w` in any form."""

    function: Callable[..., Any]
    shape: tuple[int, ...] = (7,)
    dtype: Any = jnp.float32
    reduces: bool = False

    @property
    def tolerance(self):
        return 0.05 if self.dtype == jnp.bfloat16 else 1e-5

    def reference(self, x, w):
        y = x * x * jnp.broadcast_to(w, x.shape)
        return y.sum(-1) if self.reduces else y

    def operands(self, rng, count):
        x = rng.uniform(0.5, 2, (count, *self.shape))
        w = rng.uniform(0.5, 2, (count, self.shape[-1]))
        return jnp.asarray(x, self.dtype), jnp.asarray(w, self.dtype)


CASES = {
    "elementwise": Case(reverse_rule(elementwise("fade", 2))),
    "by defjvp": Case(forward_rule(elementwise("fade", 2))),
    "by both": Case(reverse_rule(forward_rule(elementwise("fade", 2)))),
    "reduction": Case(row_sums, (3, 5), reduces=True),
    "in place": Case(reverse_rule(elementwise("faded", 2, in_out="x"))),
    "op": Case(op),
    "template": Case(cut),
    "bfloat16": Case(cut, dtype=jnp.bfloat16),
    "live op": Case(live),
}


def loss(function):
    return lambda x, w: jnp.sum(jnp.sin(function(x, w)).astype(jnp.float32))


def grad(function):
    return jax.grad(loss(function), (0, 1))


def total(function, over):
    """The sum of the losses of several elements, by a loop or a batch."""
    return jax.grad(lambda x, w: jnp.sum(over(loss(function), x, w)), (0, 1))


def by_scan(function, x, w):
    step = lambda total, each: (total + function(*each), None)  # noqa: E731
    return jax.lax.scan(step, jnp.float32(0), (x, w))[0]


def by_while(function, x, w):
    def body(carry):
        i, total = carry
        return i + 1, total + function(x[i], w[i])

    zero = jnp.int32(0), jnp.float32(0)
    return jax.lax.while_loop(lambda carry: carry[0] < len(x), body, zero)[1]


def by_cond(function, x, w):
    other = lambda *_: jnp.float32(0)  # noqa: E731
    pick = lambda i: jax.lax.cond(i < 1, function, other, x[i], w[i])  # noqa: E731
    return pick(jnp.int32(0)) + pick(jnp.int32(1))


def by_shards(function, x, w):
    """A replicated `w`: its cotangent is the sum over the devices."""
    mesh = Mesh(jax.devices("cpu")[:2], ("d",))

    def shard(x, w):
        return jax.lax.psum(function(x[0], w), "d")

    return jax.shard_map(shard, mesh=mesh, in_specs=(P("d"), P()), out_specs=P())(
        x[:2], w[0]
    )


# Of a function, and of `x` and `w` for several elements.
FORMS = {
    "grad": lambda f: lambda x, w: grad(f)(x[0], w[0]),
    "checkpoint": lambda f: lambda x, w: grad(jax.checkpoint(f))(x[0], w[0]),
    "vmap of grad": lambda f: jax.vmap(grad(f)),
    "vmap of grad, one shared": lambda f: (
        lambda x, w: jax.vmap(grad(f), (0, None))(x, w[0])
    ),
    "grad of vmap": lambda f: total(f, lambda f, x, w: jax.vmap(f)(x, w)),
    "grad of vmap, one shared": lambda f: total(
        f, lambda f, x, w: jax.vmap(f, (None, 0))(x[0], w)
    ),
    "scan": lambda f: total(f, by_scan),
    "cond": lambda f: total(f, by_cond),
    "while": lambda f: lambda x, w: by_while(loss(f), x, w),
}


@pytest.fixture
def device(default_device):
    return default_device


def agree(case, form, operands, jit=jax.jit):
    got = jit(form(case.function))(*operands)
    want = form(case.reference)(*operands)
    for one, other in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
        assert one.dtype == other.dtype
        one, other = (np.asarray(x, np.float64) for x in (one, other))
        np.testing.assert_allclose(
            one, other, rtol=case.tolerance, atol=case.tolerance * abs(other).max()
        )


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("case", CASES)
def test_derivatives(device, rng, case, form):
    agree(CASES[case], FORMS[form], CASES[case].operands(rng, 3))


@pytest.mark.parametrize("case", CASES)
def test_without_jit(device, rng, case):
    operands = CASES[case].operands(rng, 1)
    agree(CASES[case], FORMS["grad"], operands, jit=lambda f: f)


@pytest.mark.parametrize("case", CASES)
def test_shards_with_a_replicated_operand(rng, case):
    operands = CASES[case].operands(rng, 2)
    agree(CASES[case], lambda f: total(f, by_shards), operands)
