"""Memory that a session hands out: alignment, uploaded bytes, fills."""

from __future__ import annotations

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support.plan_bytes import encode

import jax_rawcuda as rc
from jax_rawcuda import _ffi

ADDRESSES = rc.compile_nvrtc(r"""
__global__ void address(const void* a, const void* b, const void* c, int* out) {
  const void* all[] = {a, b, c};
  out[threadIdx.x] = static_cast<int>((unsigned long long)all[threadIdx.x] & 4095);
}
__global__ void touch(unsigned char* space, int bytes, int* out) {
  space[bytes - 1] = 7;
  out[0] = space[bytes - 1] + space[0];
}
""")


@rc.op
def addresses(s, x, *, sizes, aligns):
    spaces = [s.alloc_bytes(n, a, fill=0) for n, a in zip(sizes, aligns, strict=True)]
    out = s.alloc_output(3, jnp.int32)
    function = ADDRESSES.function("address")
    s.launch(function, rc.LaunchConfig(1, 3), *spaces, out)
    return out


@pytest.mark.parametrize(
    "wrap", [lambda f: f, jax.jit, jax.vmap], ids=["", "jit", "vmap"]
)
def test_workspaces_start_where_asked(device, wrap):
    for sizes in itertools.product([1, 3, 100], [5, 300], [1, 64]):
        for aligns in [(256, 256, 256), (1, 128, 16), (256, 1, 32)]:
            call = wrap(lambda x, s=sizes, a=aligns: addresses(x, sizes=s, aligns=a))
            x = jax.device_put(np.zeros((2, 1), np.float32), device)
            got = np.asarray(call(x)).reshape(-1, 3)
            assert not np.any(got % aligns), (sizes, aligns, got)


def test_a_workspace_has_all_its_bytes(device):
    @rc.op
    def last(s, x, *, nbytes, align):
        space = s.alloc_bytes(nbytes, align)
        s.fill_bytes(space, 9)
        out = s.alloc_output(1, jnp.int32)
        function = ADDRESSES.function("touch")
        s.launch(function, rc.LaunchConfig(1, 1), space, nbytes, out)
        return out

    x = jax.device_put(np.zeros(1, np.float32), device)
    for nbytes, align in itertools.product([2, 63, 4097], [1, 64, 256]):
        assert last(x, nbytes=nbytes, align=align) == 16


def test_equal_bytes_are_uploaded_once(device):
    table = np.arange(4, dtype=np.int32)

    @rc.op
    def add(s, x):
        out = s.alloc_output((3, 4), jnp.int32)
        for row, data in enumerate([table, table.tobytes(), table + 1]):
            s.copy_bytes(out[row], s.upload_bytes(data))
        return out

    x = jax.device_put(np.zeros(1, np.float32), device)
    np.testing.assert_array_equal(add(x), [table, table, table + 1])
    (equation,) = jax.make_jaxpr(add)(x).eqns[-1:]
    assert [v.aval.dtype.name for v in equation.invars] == ["float32", "uint8", "uint8"]


def test_an_alignment_that_no_plan_has_is_refused():
    encoded = encode(results=[4 | 13 << 56])
    message = _ffi.check_plan(encoded.plan, encoded.images)
    assert message == "op: malformed plan: a result is aligned to 2^13 bytes."


# rc.kernel(fill=)

HISTOGRAM = r"""
__global__ void histogram(const int* x, int* counts, float* largest, int n, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&counts[x[i]], 1);
  if (i == 0) largest[0] += x[0];
}"""


def histogram(fill):
    return rc.kernel(HISTOGRAM, shapes="n -> 5, 1", threads="n", fill=fill)


def test_results_are_filled(device, rng):
    x = rng.integers(0, 5, 1000).astype(np.int32)
    want = np.bincount(x, minlength=5)
    on_device = jax.device_put(x, device)
    counts, largest = histogram(0)(on_device, k=5)
    np.testing.assert_array_equal(counts, want)
    assert float(largest[0]) == x[0]
    both = histogram({"counts": 100, "largest": 0.5})
    counts, largest = jax.jit(lambda x: both(x, k=5))(on_device)
    np.testing.assert_array_equal(counts, want + 100)
    assert float(largest[0]) == x[0] + 0.5
    rows = jnp.stack([on_device, on_device[::-1]])
    counts, _ = jax.vmap(lambda x: both(x, k=5))(rows)
    np.testing.assert_array_equal(counts, [want + 100] * 2)


@pytest.mark.parametrize(
    ("fill", "message"),
    [
        (
            {"count": 0},
            "histogram: fill names 'count'; the allocated results",
        ),
        ({"counts": 0.5}, r"result 'counts'=0\.5"),
        (2**40, r"result 'counts'=1099511627776"),
    ],
)
def test_fills_that_do_not_fit(fill, message):
    with pytest.raises(rc.ValidationError, match=message):
        histogram(fill)(np.zeros(3, np.int32), k=5)
