"""Values of module variables in a plan: sharing, threads, devices, damaged plans."""

from __future__ import annotations

import hashlib
import threading
import zlib
from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support.plan_bytes import (
    Encoded,
    call,
    function,
    launch,
    listed,
    pointer,
    result,
    text,
    u8,
    u32,
    u64,
)

import jax_rawcuda as rc
from jax_rawcuda import _ffi
from jax_rawcuda._compile.target import Target, default_target

OUT = jax.ShapeDtypeStruct((1,), jnp.int32)
SOURCE = """
__device__ int counter;
__constant__ int step = 1;
__global__ void count(int* out) { out[0] = atomicAdd(&counter, step); }
"""


def counting(note, **values):
    """A kernel of a text of its own, so that nobody else holds its image."""
    module = rc.compile_nvrtc(f"{SOURCE}// {note}\n__device__ char unique_{note}[1];")
    for name, value in values.items():
        module = module.global_(name).set(value)
    return rc.kernel(module, "count", out=OUT, threads=1, block=1)


def test_first_uses_at_once_lose_no_count(device):
    """Eight programs share one image. A value written twice would undo a count."""
    count = counting(f"threads_{device.platform}", counter=100)
    with jax.default_device(device):
        programs = [
            jax.jit(lambda i=i: count() + np.int32(i << 16)).lower().compile()
            for i in range(8)
        ]
    barrier = threading.Barrier(8)

    def work(i):
        barrier.wait(timeout=60)
        return [int(programs[i]()[0]) - (i << 16) for _ in range(4)]

    with ThreadPoolExecutor(8) as pool:
        counts = [n for part in pool.map(work, range(8)) for n in part]
    assert sorted(counts) == list(range(100, 132))


def test_programs_with_other_values_count_apart(device):
    notes = {"counter": 10}, {"counter": 10, "step": 5}, {"step": 5}, {}
    kernels = [counting(f"apart_{device.platform}", **note) for note in notes]
    with jax.default_device(device):
        programs = [jax.jit(lambda k=k: k()).lower().compile() for k in kernels]
    runs = [[int(program()[0]) for program in programs] for _ in range(3)]
    assert runs == [[10, 10, 0, 0], [11, 15, 5, 1], [12, 20, 10, 2]]


@pytest.mark.parametrize("kind", ["ptx", "cubin"])
def test_variables_of_finished_images(device, kind):
    """Their symbols need not be visible to other modules."""
    source = """
namespace { __constant__ int hidden; }
static __device__ int started;
__global__ void k(int* out) { out[0] = hidden + 10 * started; }"""
    compiled = rc.compile_nvrtc(source)
    if device.platform == "cpu" and kind == "cubin":
        pytest.skip("machine code of a GPU")
    target = default_target("cuda", compiled.options)
    if kind == "ptx":
        target = Target("cuda", target.arch.replace("sm", "compute"))
    data = compiled.function("k").image(target).data
    module = {"ptx": rc.load_ptx, "cubin": rc.load_cubin}[kind](data)
    module = module.global_("hidden").set(np.int32(3))
    module = module.global_("started").set(np.int32(4))
    with jax.default_device(device):
        kernel = rc.kernel(module, "k", out=OUT, threads=1, block=1)
        assert int(kernel()[0]) == 43


@pytest.mark.multi_gpu
def test_every_device_has_variables_of_its_own():
    count = counting("devices", counter=7)
    loads = _ffi.counters()["library_load"]
    for _ in range(2):
        for device in jax.devices("cuda")[:2]:
            with jax.default_device(device):
                program = jax.jit(lambda: count() + 1).lower().compile()
            assert [int(program()[0]) for _ in range(3)] == [8, 9, 10]
            del program
    assert _ffi.counters()["library_load"] - loads == 4


# Plans written by hand


def encoded(image, values, *, kind, name, tail=b"", short=0):
    """A plan that launches `count`, with `values` as the image's variables."""
    pairs = listed([text(symbol) + text(data) for symbol, data in values]) + tail
    stored, places = b"", []
    for raw in (image, pairs):
        packed = zlib.compress(raw)
        place = u64(len(stored), len(packed) + (short if raw is pairs else 0), len(raw))
        places.append(hashlib.sha256(raw).digest() + place)
        stored += packed
    plan = b"JRC1" + text("count") + listed([]) + listed([u64(4)])
    plan += u32(1) + listed([])  # no batch
    plan += listed([u8(kind | 0x80) + b"".join(places)])
    plan += listed([function("count", [("out", 8)], lowered=name)])
    plan += listed([launch(0, [pointer(result(0))])])
    return Encoded(plan, stored)


def compiled_image(device):
    module = rc.compile_nvrtc(SOURCE)
    gpu = device.platform == "gpu"
    target = default_target("cuda", module.options) if gpu else Target("cpu")
    kernel = module.function("count")
    kind = {"cubin": 1, "host_ptx": 3}[kernel.image(target).kind]
    name = kernel.lowered_name(target)
    return {"image": kernel.image(target).data, "kind": kind, "name": name}


def run(plan, device):
    with jax.default_device(device):
        return jax.block_until_ready(jax.jit(lambda: call(plan, OUT))())


def test_a_plan_by_hand(device):
    plan = encoded(values=[("counter", u32(1234))], **compiled_image(device))
    assert _ffi.check_plan(plan.plan, plan.images) == ""
    assert int(run(plan, device)[0]) == 1234


def test_values_that_reach_beyond_the_attribute_are_refused():
    plan = encoded(b"image", [], kind=3, name="count", short=1)
    message = _ffi.check_plan(plan.plan, plan.images)
    assert message.startswith("count: malformed plan: image 0's values ends after the")


@pytest.mark.parametrize(
    ("values", "tail"),
    [([("\udcff", b"")], b""), ([("a", b"x")], b"!"), ([("a\0b", b"x")], b"")],
)
def test_malformed_values_are_refused(device, values, tail):
    values = [
        (symbol.encode(errors="surrogateescape"), data) for symbol, data in values
    ]
    plan = encoded(values=values, tail=tail, **compiled_image(device))
    match = "count: module image 0: malformed values of its variables"
    with pytest.raises(jax.errors.JaxRuntimeError, match=match):
        run(plan, device)


def test_a_value_of_the_wrong_size(device):
    plan = encoded(values=[("counter", b"123")], **compiled_image(device))
    match = r"counter'? has 4 bytes"
    with pytest.raises(jax.errors.JaxRuntimeError, match=match):
        run(plan, device)


def test_a_value_for_no_variable(device):
    plan = encoded(values=[("other", b"1234")], **compiled_image(device))
    match = r"variable '?other'? is not in"
    with pytest.raises(jax.errors.JaxRuntimeError, match=match):
        run(plan, device)
