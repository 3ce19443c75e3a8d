"""Programs of plans on a CUDA device: graphs, loops, threads, loading, contexts."""

from __future__ import annotations

import gc
import re
import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support.cuda_plans import SOURCE, N, X, compiled, like, twice, twice_plan
from support.cuda_plans import _need_a_device as _need_a_device
from support.plan_bytes import (
    CUBIN,
    call,
    copy,
    encode,
    fill,
    function,
    launch,
    operand,
    pointer,
    result,
    u32,
    values,
)
from support.process import run_python

from jax_rawcuda import _ffi

driver = pytest.importorskip("cuda.bindings.driver")
pytestmark = pytest.mark.gpu


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


def test_a_program_is_loaded_while_it_is_compiled():
    before = _ffi.counters()["load"]
    program = jax.jit(lambda x: twice(x)).lower(X).compile()
    assert _ffi.counters()["load"] - before == 1
    for i in range(3):
        np.testing.assert_array_equal(program(X + i), 2 * (X + i) + 1)
    assert _ffi.counters()["load"] - before == 1


def check(results):
    """Returns what a function of the driver returns, without its status."""
    error, *returned = results
    assert error == 0, error
    return returned[0] if returned else None


@pytest.fixture
def stream():
    """A stream of the device's primary context, which is current meanwhile."""
    device = check(driver.cuDeviceGet(0))
    check(driver.cuCtxPushCurrent(check(driver.cuDevicePrimaryCtxRetain(device))))
    made = check(driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_NON_BLOCKING))
    yield made
    check(driver.cuStreamDestroy(made))
    check(driver.cuCtxPopCurrent())
    check(driver.cuDevicePrimaryCtxRelease(device))


def captured(stream, mode, run):
    """Records what `run` asks of the stream; returns the graph, ready to launch."""
    mode = getattr(driver.CUstreamCaptureMode, f"CU_STREAM_CAPTURE_MODE_{mode}")
    check(driver.cuStreamBeginCapture(stream, mode))
    try:
        status = run()
    finally:
        graph = check(driver.cuStreamEndCapture(stream))
    assert status == ("", "")
    return check(driver.cuGraphInstantiate(graph, 0))


MODES = ["GLOBAL", "THREAD_LOCAL", "RELAXED"]


@pytest.mark.parametrize("mode", MODES)
def test_a_program_may_be_loaded_while_a_stream_is_captured(mode, stream):
    # An image that no other test has, so that its library is loaded here.
    image = compiled(CUBIN, f"{SOURCE}__device__ char unique_{mode}[1];")
    plan = twice_plan(image=image)
    program = _ffi.load_program("cuda", plan.plan, plan.images)
    x, out = jnp.asarray(X), jnp.zeros(N, jnp.float32)
    jax.block_until_ready((x, out))
    buffers = [a.unsafe_buffer_pointer() for a in (x, out)]
    before = _ffi.counters()
    graph = captured(stream, mode, lambda: program.run(int(stream), 0, buffers))
    after = _ffi.counters()
    assert after["load"] - before["load"] == 1
    assert after["library_load"] - before["library_load"] == 1
    check(driver.cuGraphLaunch(graph, stream))
    check(driver.cuStreamSynchronize(stream))
    np.testing.assert_array_equal(out, 2 * X + 1)


@pytest.mark.parametrize("mode", MODES)
def test_variables_get_their_values_while_a_stream_is_captured(mode, stream):
    source = f"""__device__ int counter; __device__ char unique_{mode}[1];
    extern "C" __global__ void count(int* out) {{ *out = counter++; }}"""
    plan = encode(
        [launch(0, [pointer(result(0))])],
        results=[4],
        images=[(CUBIN, compiled(CUBIN, source), values(counter=u32(40)))],
        functions=[function("count", [("out", 8)])],
    )
    program = _ffi.load_program("cuda", plan.plan, plan.images)
    out = jax.block_until_ready(jnp.zeros(1, jnp.int32))
    address = out.unsafe_buffer_pointer()
    graph = captured(stream, mode, lambda: program.run(int(stream), 0, [address]))
    for _ in range(3):
        check(driver.cuGraphLaunch(graph, stream))
    check(driver.cuStreamSynchronize(stream))
    assert int(out[0]) == 42


def test_caches_cleared_with_work_in_flight():
    x = jnp.asarray(X)
    for i in range(20):
        step = jax.jit(lambda x, i=i: twice(x * i))
        y = step(x)
        del step
        jax.clear_caches()
        np.testing.assert_array_equal(y, 2 * (X * i) + 1)


def test_a_foreign_context_does_no_harm():
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
        from support.plan_bytes import *
        from support import cuda_plans as t

        command = launch(0, [pointer(result(0))])
        encoded = t.kernel_plan("fault", [("out", 8)], [command], results=[4])
        try:
            jax.block_until_ready(jax.jit(lambda: call(encoded, t.ONE))())
        except Exception as error:
            print(error)
    """
    printed = run_python(program, code=None, JAX_RAWCUDA_DEBUG="1").stdout
    message = r"fault failed while it ran: cuStreamSynchronize failed: CUDA_ERROR_\w+"
    assert re.search(message, printed), printed


def test_the_driver_is_usable():
    assert _ffi.driver_status() == ""
