"""module.global_(name).set(value): variables of a module as part of the program."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support.exported import call_elsewhere
from support.process import persistent_cache, run_python

import jax_rawcuda as rc
from jax_rawcuda import _ffi
from jax_rawcuda._compile.target import Target

SOURCE = r"""
namespace ns {
__constant__ float taps[2][4];
static __constant__ float gain = 2;
}
struct Pair { int a; double b; };
__constant__ Pair pair;
__constant__ const float fixed[2] = {4, 5};
__constant__ float4 corners[2];
__device__ float* address;
__device__ int counter = 5;
__device__ void (*callback)(int);
namespace { __device__ bool flip; }
extern "C" { __device__ short offsets[8]; }
template <typename T> __global__ void filter(const T* x, T* out) {
  int i = threadIdx.x;
  float tap = ns::taps[i / 4][i % 4] * ns::gain;
  out[i] = (flip ? -1 : 1) * x[i] * tap + offsets[i];
}
__global__ void records(float* out) {
  out[0] = pair.a + pair.b;
  out[1] = corners[1].z + fixed[1];
}
__global__ void count(int* out) { out[0] = atomicAdd(&counter, 1); }
"""
TAPS = np.float32([[1, 2, 3, 4], [5, 6, 7, 8]])


@pytest.fixture(scope="module")
def module():
    return rc.compile_nvrtc(SOURCE)


def filtered(module):
    return rc.kernel(
        module, "filter", shapes="n -> n", threads=8, block=8, template=["float"]
    )


def test_values_reach_the_kernel(module, device, rng):
    values = rng.normal(size=8).astype(np.float32)
    x = jax.device_put(values, device)
    offsets = rng.integers(-999, 999, 8).astype(np.int16)
    some = module.global_("ns::taps").set(TAPS)
    all_ = some.global_("ns::gain").set(3).global_("flip").set(True)
    all_ = all_.global_("::offsets").set(jnp.asarray(offsets))
    calls = [filtered(module), filtered(some), filtered(all_)]
    want = [0 * values, 2 * TAPS.ravel() * values]
    want.append(-1.5 * want[1] + offsets)
    for call, expected in zip(calls, want, strict=True):
        np.testing.assert_allclose(call(x), expected, rtol=1e-5)
    # One program may hold modules that differ in values only.
    together = jax.jit(lambda x: [call(x) for call in calls])(x)
    for got, expected in zip(together, want, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-5)


def test_structs_and_vectors(module, device):
    layout = np.dtype([("a", np.int32), ("b", np.float64)], align=True)
    changed = module.global_("pair").set(np.array((3, 0.5), layout))
    changed = changed.global_("corners").set(np.arange(8, dtype=np.float32))
    corners = np.arange(8, dtype=np.float32).reshape(2, 4)
    assert changed == changed.global_("corners").set(corners)
    out = jax.ShapeDtypeStruct((2,), jnp.float32)
    kernel = rc.kernel(changed, "records", out=out, threads=1, block=1)
    with jax.default_device(device):
        np.testing.assert_array_equal(kernel(), [3.5, 6 + 5])


def test_a_module_is_a_value(module):
    gain = module.global_("ns::gain")
    assert repr(gain) == "GlobalVariable(float ns::gain)"
    assert repr(module.global_("ns::taps")) == "GlobalVariable(float ns::taps[2][4])"
    one, two = gain.set(1.0), gain.set(2.0)
    assert len({module, one, two}) == 3
    assert repr(one).endswith("'count'], values of ns::gain)")
    assert one == gain.set(np.float32(1)) == two.global_("ns::gain").set(1)
    assert hash(one) == hash(gain.set(1))
    by_name = one.global_("flip").set(True)
    assert by_name == module.global_("flip").set(True).global_("ns::gain").set(1)
    name = "filter<float>"
    assert one.function(name) != module.function(name)
    assert one.function(name) == gain.set(1).function(name)
    # The code is the same: only the values differ.
    target = Target("cpu")
    assert (
        one.function(name).image(target).digest
        == two.function(name).image(target).digest
    )


def test_the_same_values_share_one_image(module):
    x = np.ones(8, np.float32)
    kernels = [filtered(module.global_("ns::gain").set(v)) for v in (7, 7.0, 8)]
    before = _ffi.counters()["images"]
    compiled = [jax.jit(lambda x, k=k: k(x) + 1).lower(x).compile() for k in kernels]
    assert _ffi.counters()["images"] - before == 2
    assert len(compiled) == 3


@pytest.mark.parametrize("set_", [False, True])
def test_what_kernels_write_stays_until_the_program_goes(set_, device):
    # A text of its own: nobody else's program keeps these variables alive.
    module = rc.compile_nvrtc(f"{SOURCE}// {set_} {device.platform}")
    first = 5
    if set_:
        module, first = module.global_("counter").set(40), 40
    out = jax.ShapeDtypeStruct((1,), jnp.int32)
    count = rc.kernel(module, "count", out=out, threads=1, block=1)

    with jax.default_device(device):
        step = jax.jit(lambda: count()).lower().compile()
        assert [int(step()[0]) for _ in range(3)] == [first, first + 1, first + 2]


def test_finished_images(module):
    target = Target("cuda", "compute_90")
    ptx = module.function("filter<float>").image(target).data.decode()
    loaded = rc.load_ptx(ptx)
    assert repr(loaded.global_("ns::taps")) == "GlobalVariable(? ns::taps)"
    changed = loaded.global_("ns::taps").set(TAPS)
    (pair,) = changed.function("filter<float>").image(Target("cpu")).variables
    assert pair == ("_ZN2ns4tapsE", TAPS.tobytes())
    cubin = module.function("filter<float>").image(Target("cuda", "sm_90")).data
    loaded = rc.load_cubin(cubin)
    changed = loaded.global_("ns::gain").set(TAPS[0, 1])
    ((symbol, data),) = changed.function("filter<float>").image(target).variables
    assert symbol.endswith("2ns4gainE")
    assert data == TAPS[0, 1].tobytes()
    with pytest.raises(rc.ValidationError, match="load_cubin: no variable 'gian'"):
        loaded.global_("gian")
    with pytest.raises(rc.ValidationError, match="has 4 bytes; the value has 32"):
        loaded.global_("ns::gain").set(TAPS)


def test_variable_templates():
    module = rc.compile_nvrtc(
        "struct P { int a; }; template <typename T> __constant__ T some;"
        "__global__ void k(int* out) { out[0] = some<int>; }"
    )
    changed = module.global_("some<int>").set(3).global_("some<P>").set(b"none")
    kernel = rc.kernel(changed, out=np.zeros(1, np.int32), threads=1, block=1)
    assert int(kernel()[0]) == 3
    with pytest.raises(rc.ValidationError, match="no variable 'some<None>'"):
        module.global_("some<None>")


PERSISTENT = '''
import sys

import jax
import numpy as np
import jax_rawcuda as rc

module = rc.compile_nvrtc("""
__constant__ float scale;
__global__ void times(const float* x, float* out) { out[0] = scale * x[0]; }""")
hits = []
jax.monitoring.register_event_listener(
    lambda name, **_: hits.append(name) if name.endswith("/cache_hits") else None
)
x = jax.device_put(np.float32([3]), jax.devices(sys.argv[1])[0])
for scale in (2.0, 5.0):
    one = module.global_("scale").set(scale)
    times = rc.kernel(one, shapes="1 -> 1", threads=1, block=1)
    print(int(jax.jit(lambda x: times(x))(x)[0]))
print(len(hits))
'''


def test_values_live_in_the_persistent_cache(device, tmp_path):
    kept = persistent_cache(tmp_path)
    runs = [
        run_python(PERSISTENT, device.platform, **kept).stdout.split() for _ in range(2)
    ]
    assert [run[:2] for run in runs] == [["6", "15"], ["6", "15"]]
    assert int(runs[1][2]) >= 2


def test_values_are_exported(module, device, tmp_path):
    changed = module.global_("ns::taps").set(np.full((2, 4), 2.5, np.float32))
    kernel = filtered(changed)
    exported = jax.export.export(
        jax.jit(lambda x: 2 * (kernel(x[:8]) + 1)),
        platforms=["cuda" if device.platform == "gpu" else "cpu"],
        disabled_checks=rc.export_safety_checks(),
    )(jax.ShapeDtypeStruct((70,), jnp.float32))
    x = np.arange(70, dtype=np.float32)
    got = call_elsewhere(exported, x, tmp_path, device.platform)
    np.testing.assert_array_equal(got, 2 * (5 * x[:8] + 1))
