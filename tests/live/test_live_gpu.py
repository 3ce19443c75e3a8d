"""Live sessions on a CUDA device: streams, order, contexts, graphs and memory."""

from __future__ import annotations

import gc
import itertools

import jax
import numpy as np
import pytest
from support.process import run_python

import jax_rawcuda as rc
from jax_rawcuda import _ffi
from jax_rawcuda._device.driver import call_driver, device_context

pytestmark = pytest.mark.gpu

N = 1 << 16
OUT = jax.ShapeDtypeStruct((N,), np.float32)
SOURCE = r"""
extern "C" __global__ void slow(const float* x, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  long long end = clock64() + 20000000;  // some 10 ms
  while (clock64() < end) {}
  if (i < n) out[i] = 3 * x[i];
}
extern "C" __global__ void add_to(const float* x, float* total, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) total[i] += x[i];
}
extern "C" __global__ void big_shared(float* out) {
  extern __shared__ float s[];
  s[threadIdx.x + 20000] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = s[20000 + blockDim.x - 1 - threadIdx.x];
}
extern "C" __global__ void fault(float* out) { *(volatile float*)8 = out[0]; }
"""
MODULE = rc.compile_nvrtc(SOURCE)
FLAT = rc.LaunchConfig.flat(N)
slow = rc.kernel(MODULE, "slow", shapes="n -> n", threads="n")


@pytest.fixture(autouse=True)
def _need_a_device():
    if jax.default_backend() != "gpu":
        pytest.skip("no CUDA device")


@pytest.fixture
def x():
    return np.random.default_rng(7).standard_normal(N, np.float32)


def driver():
    from cuda.bindings import driver

    return driver


def ask(function, *arguments):
    return call_driver("test", function, *arguments)


def memory():
    """Bytes free on the device, and bytes of workspaces, all work being done."""
    used = driver().CUmemPool_attribute.CU_MEMPOOL_ATTR_USED_MEM_CURRENT
    with device_context("test", 0):
        ask("cuCtxSynchronize")
        pool = ask("cuDeviceGetDefaultMemPool", ask("cuDeviceGet", 0))
        workspaces = int(ask("cuMemPoolGetAttribute", pool, used))
        return ask("cuMemGetInfo")[0], workspaces


def run(body, *args, out=OUT, **options):
    return jax.block_until_ready(rc.live_op(body, name="f", out=out, **options)(*args))


def test_work_is_ordered_on_the_stream(x):
    seen, kept = [], []

    @rc.live_op(out=OUT)
    def middle(s, y, out):
        kept.append(s.retain_tensor(y))
        work = s.alloc_output(y.shape, y.dtype)
        s.launch(MODULE.function("slow"), FLAT, y, work, N)
        s.copy_bytes(out, work)
        s.launch(MODULE.function("add_to"), FLAT, s.upload(x), out, N)
        seen.append(s.download_tensor(out))

    program = jax.jit(lambda x: slow(middle(slow(x))))
    for _ in range(3):
        np.testing.assert_allclose(program(x), 3 * (9 * x + x), rtol=1e-6)
        np.testing.assert_allclose(seen.pop(), 10 * x, rtol=1e-6)
        np.testing.assert_allclose(kept.pop().numpy(), 3 * x, rtol=1e-6)


def test_handles_and_pointers_are_those_of_the_driver(x):
    def body(s, x, out):
        handle = s.stream().unsafe_raw_handle()
        assert s.stream().__cuda_stream__() == (0, handle)
        status, capture = driver().cuStreamIsCapturing(handle)
        assert (status.value, capture.value) == (0, 0)
        interface = x[5:].__cuda_array_interface__
        assert interface["data"] == (x.unsafe_raw_ptr() + 20, True)
        assert interface["shape"] == (N - 5,)
        assert interface["typestr"] == "<f4"
        assert x.__dlpack_device__() == (2, 0)
        assert s.platform == "cuda"
        pointer = out.unsafe_raw_ptr()
        driver().cuMemcpyDtoDAsync(pointer, x.unsafe_raw_ptr(), 4 * N, handle)
        with pytest.raises(rc.UnsupportedError, match="which NumPy cannot read"):
            np.asarray(x)
        with pytest.raises(rc.UnsupportedError, match="has no DLPack form here"):
            x[5:].__dlpack__()

    np.testing.assert_array_equal(run(body, x), x)


def test_dlpack_and_the_array_interface_with_torch(x):
    torch = pytest.importorskip("torch")

    def body(s, x, out):
        with torch.cuda.stream(
            torch.cuda.ExternalStream(s.stream().unsafe_raw_handle())
        ):
            torch.from_dlpack(out).copy_(torch.from_dlpack(x) * 2)
            # PyTorch takes the array interface of writable memory only.
            torch.as_tensor(out, device="cuda").add_(torch.from_dlpack(x))

    np.testing.assert_allclose(run(body, x), 3 * x, rtol=1e-6)


def test_the_context_is_current_and_restored(x):
    cuda = driver()
    _, device = cuda.cuDeviceGet(0)

    def body(s, x, out):
        _, current = cuda.cuCtxGetCurrent()
        _, of_stream = cuda.cuStreamGetCtx(s.stream().unsafe_raw_handle())
        assert int(current) == int(of_stream) != 0
        s.copy_bytes(out, x)
        cuda.cuCtxSetCurrent(0)  # what a careless library leaves behind

    for _ in range(2):
        np.testing.assert_array_equal(run(body, x), x)
    np.testing.assert_array_equal(slow(x) / 3, slow(x) / 3)
    assert cuda.cuDevicePrimaryCtxGetState(device)[0].value == 0


def test_shared_memory_beyond_48_kib():
    def body(s, out):
        config = rc.LaunchConfig(1, 128, shared_mem_bytes=4 * 20128)
        s.launch(MODULE.function("big_shared"), config, out)

    out = jax.ShapeDtypeStruct((128,), np.float32)
    np.testing.assert_array_equal(run(body, out=out), np.arange(128.0)[::-1])


def test_the_drivers_refusal_is_named(x):
    with pytest.raises(jax.errors.JaxRuntimeError) as caught:
        run(lambda s, *_: s.alloc_bytes(1 << 46), x)
    assert "BackendError: f: cuMemAllocAsync failed: CUDA_ERROR_OUT_OF_MEMORY." in str(
        caught.value
    )
    np.testing.assert_array_equal(run(lambda s, x, out: s.copy_bytes(out, x), x), x)


def test_sessions_and_modules_give_their_memory_back(x):
    kept, module = [], [MODULE]

    @rc.live_op(out=OUT)
    def op(s, x, out):
        kept[:] = [s.retain_tensor(x)]
        work = s.alloc_output(x.shape, x.dtype, fill=0)
        s.launch(module[0].function("add_to"), FLAT, x, work, N)
        s.copy_bytes(out, s.upload(s.download_tensor(work)))

    def cycles(first, last):
        for i in range(first, last):
            if i % 5 == 0:
                module[0] = rc.compile_nvrtc(f"// {i}\n{SOURCE}")
            np.testing.assert_array_equal(op(x), x)
        gc.collect()
        return memory()

    def loaded():
        count = _ffi.counters()
        return count["library_load"] - count["library_unload"]

    # Enough for every bounded cache to be full.
    found = [cycles(0, 800)]
    before = loaded()
    found += [cycles(first, first + 250) for first in range(800, 1800, 250)]
    assert loaded() <= before + 2  # the caches count commands, of several modules
    free, workspaces = zip(*found, strict=True)
    assert len(set(workspaces)) == 1
    # Other processes may take memory meanwhile, but not in every interval.
    losses = [early - late for early, late in itertools.pairwise(free)]
    assert min(losses) < 8 << 20, losses


GRAPH = r"""
import jax, numpy as np, jax_rawcuda as rc
jax.config.update("jax_enable_x64", False)
add = rc.kernel(r'''
__global__ void add(const float* x, float a, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] + a;
}''', shapes="n -> n", threads="n")
calls = []

@rc.live_op(out=lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype))
def double(s, x, out):
    calls.append(1)
    s.launch(module.function("twice"), rc.LaunchConfig.flat(x.size), x, out, x.size)

module = rc.compile_nvrtc(r'''
extern "C" __global__ void twice(const float* x, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2 * x[i];
}''')

@jax.jit
def program(x):
    for i in range(4):
        x = add(x, 1.0)
    x = double(x)
    for i in range(4):
        x = add(x, 0.5)
    return x

x = np.random.default_rng(0).standard_normal(5000, np.float32)
for turn in range(5):
    np.testing.assert_allclose(program(x + turn), 2 * (x + turn + 4) + 2, rtol=1e-5)
assert len(calls) == 5, calls  # in a graph, Python would run once
print("ok")
"""


def test_between_command_buffers():
    flags = "--xla_gpu_graph_min_graph_size=1"
    assert run_python(GRAPH, XLA_FLAGS=flags).stdout == "ok\n"


def test_a_fault_is_reported_with_the_drivers_code():
    program = """
        import sys, jax, numpy as np, jax_rawcuda as rc
        module = rc.compile_nvrtc(sys.argv[1])
        def body(s, out):
            s.launch(module.function("fault"), rc.LaunchConfig(1, 1), s.upload(
                np.zeros(1, np.float32)))
            s.synchronize()
        out = jax.ShapeDtypeStruct((1,), np.float32)
        try:
            jax.block_until_ready(rc.live_op(body, name="f", out=out)())
        except jax.errors.JaxRuntimeError as error:
            text = str(error)
            assert "BackendError: f: cuStreamSynchronize failed: CUDA_ERROR_" in text
            print("ok", flush=True)
        import os; os._exit(0)  # the context is lost
    """
    assert run_python(program, SOURCE).stdout == "ok\n"
