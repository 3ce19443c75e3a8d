"""What a live session asks of the CUDA driver, against a driver over host memory."""

from __future__ import annotations

import ctypes
import gc
from types import SimpleNamespace

import jax
import numpy as np
import pytest

import jax_rawcuda as rc
from jax_rawcuda._device import driver as _device
from jax_rawcuda._live.call import LiveCall
from jax_rawcuda._live.device import CudaDevice

STREAM, CONTEXT, BEFORE, ORDINAL = 0x77, 0x1000, 0x2000, 3


class FakeDriver:
    """Keeps its memory in host arrays. `fail` names entry points that refuse."""

    def __init__(self):
        self.memory, self.calls, self.fail = {}, [], set()
        self.context = BEFORE

    def __getattr__(self, name):
        def call(*arguments):
            self.calls.append(name)
            if name in self.fail:
                return (SimpleNamespace(value=2, name="CUDA_ERROR_OUT_OF_MEMORY"),)
            entry = getattr(type(self), f"_{name}", lambda *_: None)
            result = entry(self, *arguments)
            ok = SimpleNamespace(value=0, name="CUDA_SUCCESS")
            return (ok,) if result is None else (ok, result)

        return call

    def _cuCtxGetCurrent(self):
        return self.context

    def _cuCtxSetCurrent(self, context):
        self.context = context

    def _cuStreamGetCtx(self, stream):
        assert stream == STREAM
        return CONTEXT

    def _cuCtxGetDevice(self):
        assert self.context == CONTEXT
        return ORDINAL

    def _cuDeviceGet(self, ordinal):
        assert ordinal == ORDINAL
        return ordinal

    def _cuMemAllocAsync(self, nbytes, stream):
        assert stream == STREAM
        return self._cuMemAlloc(nbytes)

    def _cuMemAlloc(self, nbytes):
        memory = np.full(nbytes, 0xAB, np.uint8)
        self.memory[memory.ctypes.data] = memory
        return memory.ctypes.data

    def _cuMemFreeAsync(self, address, stream):
        assert stream == STREAM
        del self.memory[address]

    def _cuMemFree(self, address):
        del self.memory[address]

    def _cuMemcpyHtoDAsync(self, to, source, nbytes, stream):
        assert stream == STREAM
        ctypes.memmove(to, source, nbytes)

    _cuMemcpyDtoHAsync = _cuMemcpyDtoDAsync = _cuMemcpyHtoDAsync

    def _cuMemcpyDtoH(self, to, source, nbytes):
        ctypes.memmove(to, source, nbytes)


@pytest.fixture
def driver(monkeypatch):
    driver = FakeDriver()
    monkeypatch.setattr(_device, "_driver", lambda: driver)
    return driver


@pytest.fixture
def x():
    return np.random.default_rng(3).standard_normal((5, 7), np.float32)


def call(body, *operands):
    """Calls `body(s, *refs)` as XLA does on a GPU."""
    tree = jax.tree.structure((tuple(operands), {}))
    names = tuple(f"x{i}" for i in range(len(operands)))
    run = LiveCall("f", body, names, tree, jax.tree.structure(()), None, (), (), False)
    run(SimpleNamespace(stream=STREAM), (), *operands)


def test_memory_is_given_back_and_the_context_restored(driver, x):
    def body(s, ref):
        assert driver.context == CONTEXT
        assert s.platform == "cuda"
        assert s.stream().unsafe_raw_handle() == STREAM
        copy = s.upload(x)
        np.testing.assert_array_equal(s.download_tensor(copy[1:3]), x[1:3])
        np.testing.assert_array_equal(s.download_tensor(ref), x)
        s.alloc_bytes(100)
        assert s.alloc_bytes(0).is_empty
        assert len(driver.memory) == 2

    call(body, x)
    assert driver.context == BEFORE
    assert not driver.memory


def test_interfaces_of_device_memory(driver, x):
    def body(s, ref):
        interface = ref[2:].__cuda_array_interface__
        assert interface["data"] == (x.ctypes.data + 2 * 28, True)
        assert (interface["shape"], interface["typestr"]) == ((3, 7), "<f4")
        assert s.upload(x).__cuda_array_interface__["data"][1] is False
        assert ref.__dlpack_device__() == (2, ORDINAL)
        with pytest.raises(rc.UnsupportedError, match="which NumPy cannot read"):
            np.asarray(ref)
        with pytest.raises(rc.UnsupportedError, match="has no DLPack form here"):
            ref[2:].__dlpack__()

    call(body, x)


def test_retained_memory_lives_as_long_as_its_owner(driver, x):
    kept = []
    call(lambda s, ref: kept.append(s.retain_tensor(ref[1:])), x)
    assert len(driver.memory) == 1
    np.testing.assert_array_equal(kept[0].numpy(), x[1:])
    assert kept[0].__cuda_array_interface__["data"] == (kept[0].unsafe_raw_ptr(), False)

    def again(s):
        s.tensor_mut(kept[0])
        s.tensor(kept[0])
        assert len(driver.memory) == 1  # no copy
        kept.pop().close()
        gc.collect()
        assert len(driver.memory) == 1  # still in use

    driver.calls.clear()
    call(again)
    gc.collect()
    assert not driver.memory
    assert driver.calls.index("cuCtxPushCurrent") < driver.calls.index("cuMemFree")
    assert driver.calls.index("cuMemFree") < driver.calls.index("cuCtxPopCurrent")


def test_an_error_of_the_function_comes_first(driver):
    def body(s):
        s.alloc_bytes(8)
        driver.fail.add("cuMemFreeAsync")
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        call(body)
    assert driver.context == BEFORE


@pytest.mark.parametrize("entry", ["cuMemAllocAsync", "cuMemFreeAsync"])
def test_a_refusal_of_the_driver_is_named(driver, entry):
    def body(s):
        s.alloc_bytes(8)

    driver.fail.add(entry)
    with pytest.raises(rc.BackendError, match=f"^f: {entry} failed: CUDA_ERROR_") as e:
        call(body)
    assert e.value.code == "CUDA_ERROR_OUT_OF_MEMORY"
    assert driver.context == BEFORE


def test_a_stream_of_no_context_leaves_all_as_it_was(driver):
    driver.fail.add("cuStreamGetCtx")
    with pytest.raises(rc.BackendError, match="cuStreamGetCtx failed"):
        CudaDevice("f", STREAM).__enter__()
    assert driver.context == BEFORE
