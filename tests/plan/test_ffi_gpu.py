"""The CUDA target, driven by plans written by hand: launches, copies, refusals."""

from __future__ import annotations

import functools
import struct

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support.cuda_plans import (
    ONE,
    TWICE,
    X,
    compute_capability,
    fails,
    kernel_plan,
    like,
    twice,
    twice_plan,
)
from support.cuda_plans import _need_a_device as _need_a_device
from support.plan_bytes import (
    COOPERATIVE,
    HOST_PTX,
    PROGRAMMATIC,
    PTX,
    batch_axis,
    call,
    copy,
    encode,
    fill,
    launch,
    operand,
    pointer,
    result,
    scalar,
    synchronize,
)

from jax_rawcuda._xla import registration as _registration

pytestmark = pytest.mark.gpu


def test_values():
    np.testing.assert_array_equal(jax.jit(twice)(X), 2 * X + 1)


def test_ptx_runs_too():
    got = jax.jit(functools.partial(twice, kind=PTX))(X)
    np.testing.assert_array_equal(got, 2 * X + 1)


@pytest.mark.parametrize("kib", [48, 100, 227])
def test_dynamic_shared_memory(kib):
    limit = 232448
    if kib * 1024 > limit or int(compute_capability()) < 90:
        pytest.skip("the device has less shared memory")
    got = jax.jit(functools.partial(twice, shared_mem_bytes=kib * 1024))(X)
    np.testing.assert_array_equal(got, 2 * X + 1)


def test_static_and_dynamic_shared_memory_count_together():
    # 40 KB and 40 KB: each is below the 48 KB that need no opting in.
    command = launch(
        0, [pointer(result(0))], block=(64, 1, 1), shared_mem_bytes=40 * 1024
    )
    encoded = kernel_plan("static_shared", [("out", 8)], [command], results=[256])
    out = jax.ShapeDtypeStruct((64,), jnp.float32)
    np.testing.assert_array_equal(jax.jit(lambda: call(encoded, out))(), 1 + X[:64])


def test_too_much_shared_memory_names_kernel_and_limit():
    encoded = twice_plan(shared_mem_bytes=300 * 1024)
    fails(encoded, like(X), X, match=r"twice: shared_mem_bytes=307200 .*allows \d+\.")


def test_too_many_threads_name_kernel_and_limit():
    command = launch(0, [pointer(result(0))], block=(128, 1, 1))
    encoded = kernel_plan("bounded", [("out", 8)], [command], results=[4])
    fails(encoded, ONE, match=r"bounded: 128 threads per block .*allow 64 on")


def test_garbage_names_the_kernel():
    command = launch(0, [pointer(result(0))])
    encoded = kernel_plan(
        "broken", [("out", 8)], [command], image=b"garbage" * 99, results=[4]
    )
    match = r"broken: its cubin \(693 bytes\) does not load on .*: CUDA_ERROR_"
    fails(encoded, ONE, match=match)


def test_an_unknown_kernel_is_named():
    command = launch(0, [pointer(result(0))])
    encoded = kernel_plan("absent", [("out", 8)], [command], results=[4])
    fails(encoded, ONE, match="absent: its image has no kernel 'absent'")


def test_a_host_image_is_refused():
    command = launch(0, [pointer(result(0))])
    encoded = kernel_plan(
        "host", [("out", 8)], [command], HOST_PTX, b"text", results=[4]
    )
    fails(encoded, ONE, match="host: compiled for the CPU")


@pytest.mark.parametrize(
    "parameters", [[("out", 8), ("n", 4)], [("out", 8), ("a", 4), ("b", 8)]]
)
def test_a_wrong_signature_is_refused(parameters):
    zeros = [scalar(bytes(size)) for _, size in parameters[1:]]
    command = launch(0, [pointer(result(0)), *zeros])
    encoded = kernel_plan("twice", parameters, [command], results=[4])
    fails(encoded, ONE, match="twice: parameter [12] has .* the signature says")


def test_programmatic_dependent_launch():
    if int(compute_capability()) < 90:
        pytest.skip("programmatic dependent launch needs sm_90")
    command = launch(0, [pointer(result(0))], flags=PROGRAMMATIC)
    encoded = kernel_plan("bounded", [("out", 8)], [command] * 3, results=[4])
    assert float(jax.jit(lambda: call(encoded, ONE))()[0]) == 1


def test_clusters():
    if int(compute_capability()) < 90:
        pytest.skip("clusters need sm_90")
    for size in (2, 16):
        command = launch(
            0,
            [pointer(result(0))],
            grid=(32, 1, 1),
            block=(32, 1, 1),
            cluster=(size, 1, 1),
        )
        encoded = kernel_plan("cluster_rank", [("out", 8)], [command], results=[128])
        out = jax.ShapeDtypeStruct((32,), jnp.int32)
        got = jax.jit(lambda e=encoded, o=out: call(e, o))()
        np.testing.assert_array_equal(got, np.arange(32) % size)


def test_a_cooperative_launch_that_does_not_fit_is_refused():
    def plan(blocks):
        command = launch(
            0,
            [pointer(result(0))],
            grid=(blocks, 1, 1),
            block=(64, 1, 1),
            flags=COOPERATIVE,
        )
        return kernel_plan("bounded", [("out", 8)], [command], results=[4])

    encoded = plan(4)
    assert float(jax.jit(lambda: call(encoded, ONE))()[0]) == 1
    fails(plan(1 << 20), ONE, match="bounded: a cooperative launch of 1048576 blocks")


def test_an_empty_grid_launches_nothing():
    zero = launch(0, [pointer(result(0))], grid=(0, 1, 1))
    commands = [fill(result(0), 4, 4, 0), zero]
    encoded = kernel_plan("bounded", [("out", 8)], commands, results=[4])
    assert float(jax.jit(lambda: call(encoded, ONE))()[0]) == 0


def test_copy_and_fill():
    encoded = encode(
        [
            fill(result(0), 16, 4, 0x3F800000),
            copy(result(0, 4), operand(0, 8), 8),
            fill(result(1), 3, 1, 0xAB),
            fill(result(1, 4), 4, 2, 0x1234),
        ],
        operands=[16],
        results=[16, 8],
    )
    out = [like(X[:4]), jax.ShapeDtypeStruct((8,), jnp.uint8)]
    a, b = jax.jit(lambda x: call(encoded, out, x))(X[:4])
    np.testing.assert_array_equal(a, [1, 2, 3, 1])
    np.testing.assert_array_equal(b[:3], [0xAB] * 3)
    np.testing.assert_array_equal(b[4:], [0x34, 0x12] * 2)


def test_batch_axes_step_by_their_strides():
    arguments = [pointer(operand(0)), pointer(result(0)), scalar(struct.pack("<i", 8))]
    command = launch(0, arguments, block=(32, 1, 1), shared_mem_bytes=128)
    encoded = kernel_plan(
        "twice",
        TWICE,
        [command],
        operands=[32],
        results=[32],
        batch=[batch_axis(3, 0, 64), batch_axis(2, 32, 32)],
    )
    x = X[:16].reshape(2, 8)
    out = jax.ShapeDtypeStruct((3, 2, 8), jnp.float32)
    got = jax.jit(lambda x: call(encoded, out, x))(x)
    np.testing.assert_array_equal(got, np.broadcast_to(2 * x + 1, (3, 2, 8)))


def test_synchronize():
    encoded = encode([fill(result(0), 4, 4, 0), synchronize()], results=[4])
    got = jax.jit(lambda: call(encoded, ONE, target=_registration.SYNC_TARGET))()
    assert float(got[0]) == 0
