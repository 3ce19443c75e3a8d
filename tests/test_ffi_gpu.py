"""The CUDA target, driven by plans written by hand."""

from __future__ import annotations

import functools
import gc
import os
import re
import struct
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from _plan_bytes import (
    COOPERATIVE,
    CUBIN,
    HOST_PTX,
    PROGRAMMATIC,
    PTX,
    batch_axis,
    call,
    copy,
    encode,
    fill,
    function,
    launch,
    operand,
    pointer,
    result,
    scalar,
    synchronize,
)

from jax_rawcuda import _ffi, _registration

pytestmark = pytest.mark.gpu

N = 1000
SOURCE = r"""
extern "C" __global__ void twice(const float* x, float* out, int n) {
  extern __shared__ float s[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  if (i < n) out[i] = 2 * s[threadIdx.x] + 1;
}
extern "C" __global__ void static_shared(float* out) {
  __shared__ float s[10240];
  extern __shared__ float dynamic[];
  s[threadIdx.x] = threadIdx.x;
  dynamic[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x] + dynamic[threadIdx.x];
}
extern "C" __global__ void __launch_bounds__(64) bounded(float* out) { out[0] = 1; }
extern "C" __global__ void cluster_rank(int* out) {
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (threadIdx.x == 0) out[blockIdx.x] = rank;
}
extern "C" __global__ void fault(float* out) { *(volatile float*)8 = out[0]; }
"""


@pytest.fixture(autouse=True)
def _need_a_device():
    if jax.default_backend() != "gpu":
        pytest.skip("no CUDA device")


def compute_capability() -> str:
    return jax.devices("gpu")[0].compute_capability.replace(".", "")


@functools.cache
def compiled(kind: int) -> bytes:
    from cuda.bindings import nvrtc

    error, program = nvrtc.nvrtcCreateProgram(SOURCE.encode(), b"k.cu", 0, [], [])
    assert error == 0
    family = "sm" if kind == CUBIN else "compute"
    options = [f"-arch={family}_{compute_capability()}".encode(), b"-std=c++17"]
    (error,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
    assert error == 0
    size_of, get = (
        (nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN)
        if kind == CUBIN
        else (nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX)
    )
    _, size = size_of(program)
    image = b" " * size
    get(program, image)
    # NVRTC may write a newer PTX than the driver reads.
    return re.sub(rb"\.version \d+\.\d+", b".version 9.0", image)


def kernel_plan(name, parameters, commands, kind=CUBIN, image=None, **sections):
    return encode(
        commands,
        name=name,
        images=[(kind, compiled(kind) if image is None else image)],
        functions=[function(name, parameters)],
        **sections,
    )


TWICE = [("x", 8), ("out", 8), ("n", 4)]


def twice_plan(n=N, shared_mem_bytes=1024, **sections):
    arguments = [pointer(operand(0)), pointer(result(0)), scalar(struct.pack("<i", n))]
    geometry = {"grid": (-(-n // 256), 1, 1), "block": (256, 1, 1)}
    command = launch(0, arguments, shared_mem_bytes=shared_mem_bytes, **geometry)
    sizes = {"operands": [4 * n], "results": [4 * n]} | sections
    return kernel_plan("twice", TWICE, [command], **sizes)


def like(x):
    return jax.ShapeDtypeStruct(x.shape, x.dtype)


def twice(x, **kwargs):
    return call(twice_plan(x.size, **kwargs), like(x), x)


def fails(encoded, out, *operands, match):
    with pytest.raises(jax.errors.JaxRuntimeError, match=match):
        jax.block_until_ready(jax.jit(lambda *xs: call(encoded, out, *xs))(*operands))


X = np.arange(N, dtype=np.float32)
ONE = jax.ShapeDtypeStruct((1,), jnp.float32)


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


@pytest.mark.parametrize("with_copy", [False, True])
def test_many_calls_are_recorded_in_a_graph(with_copy):
    def step(x):
        y = twice(x)
        if not with_copy:
            return y
        both = encode(
            [fill(result(0), 8, 4, 0), copy(result(0, 8), operand(0, 8), 4 * N - 8)],
            operands=[4 * N],
            results=[4 * N],
        )
        return call(both, like(x), y)

    def chain(x):
        for _ in range(50):
            x = jax.lax.optimization_barrier(step(x * 0.5))
        return x

    want = X
    for _ in range(50):
        want = 2 * (want * np.float32(0.5)) + 1
        if with_copy:
            want[:2] = 0
    chained = jax.jit(chain)
    for _ in range(3):
        np.testing.assert_allclose(chained(X), want, rtol=1e-6)


def test_calls_inside_a_loop():
    loop = jax.jit(lambda x: jax.lax.fori_loop(0, 500, lambda _, v: twice(v * 0.5), x))
    np.testing.assert_allclose(loop(X), X + 500)


def test_eight_threads_with_executables_of_their_own():
    errors: list[str] = []
    x = jnp.asarray(X)

    def work(i: int) -> None:
        try:
            step = jax.jit(lambda x: twice(x + i))
            for _ in range(20):
                np.testing.assert_array_equal(step(x), 2 * (X + i) + 1)
        except Exception as error:  # reported below, with the thread
            errors.append(f"{i}: {error!r}")

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_the_library_is_loaded_once_and_unloaded_with_its_executables():
    jax.clear_caches()
    gc.collect()
    before = _ffi.counters()
    step = jax.jit(lambda x: twice(twice(x)))
    jax.block_until_ready(step(X))
    loaded = _ffi.counters()
    assert loaded["library_load"] - before["library_load"] == 1
    del step
    jax.clear_caches()
    gc.collect()
    after = _ffi.counters()
    assert after["library_unload"] - before["library_unload"] == 1


def test_caches_cleared_with_work_in_flight():
    x = jnp.asarray(X)
    for i in range(20):
        step = jax.jit(lambda x, i=i: twice(x * i))
        y = step(x)
        del step
        jax.clear_caches()
        np.testing.assert_array_equal(y, 2 * (X * i) + 1)


def test_a_foreign_context_does_no_harm():
    from cuda.bindings import driver

    step = jax.jit(lambda x: twice(x))
    jax.block_until_ready(step(X))  # JAX has made the primary context by now
    error, device = driver.cuDeviceGet(0)
    assert error == 0
    created = driver.cuCtxCreate(None, 0, device)
    assert created[0] == 0
    context = created[1]
    try:
        fresh = jax.jit(lambda x: twice(x + 1))
        np.testing.assert_array_equal(fresh(X), 2 * (X + 1) + 1)
        np.testing.assert_array_equal(step(X), 2 * X + 1)
    finally:
        driver.cuCtxDestroy(context)


def test_debugging_names_the_kernel_that_failed():
    program = """
        import jax, jax.numpy as jnp
        from _plan_bytes import *
        import test_ffi_gpu as t

        command = launch(0, [pointer(result(0))])
        encoded = t.kernel_plan("fault", [("out", 8)], [command], results=[4])
        try:
            jax.block_until_ready(jax.jit(lambda: call(encoded, t.ONE))())
        except Exception as error:
            print(error)
    """
    here = Path(__file__).parent
    paths = [str(here), str(here.parent), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {
        "JAX_RAWCUDA_DEBUG": "1",
        "PYTHONPATH": os.pathsep.join(paths),
    }
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    message = r"fault failed while it ran: cuStreamSynchronize failed: CUDA_ERROR_\w+"
    assert re.search(message, done.stdout), done.stdout + done.stderr


def test_the_driver_is_usable():
    assert _ffi.driver_status() == ""
