"""What a GPU says about kernels."""

import jax
import pytest
from support.process import run_python

import jax_rawcuda as rc
from jax_rawcuda._compile import nvrtc as _nvrtc
from jax_rawcuda._compile.target import COMMON_ARCH, Target, default_target, source_arch
from jax_rawcuda._device import driver as _device
from jax_rawcuda._module.load import source_module

pytestmark = pytest.mark.gpu

SOURCE = r"""
__global__ void light(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2.0f * x[i];
}
__global__ void __launch_bounds__(128) heavy(float* x) {
  __shared__ float tile[1024];
  extern __shared__ float more[];
  tile[threadIdx.x] = x[threadIdx.x];
  more[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = tile[127 - threadIdx.x] + more[127 - threadIdx.x];
}
template <int N> __global__ void frame(float* x) {
  float stack[N];
  for (int i = 0; i < N; ++i) stack[i] = x[i];
  for (int i = 0; i < N; ++i) stack[int(x[i]) % N] += stack[i];
  x[0] = stack[int(x[1]) % N];
}
"""


@pytest.fixture(scope="module")
def module():
    return rc.compile_nvrtc(SOURCE)


def test_the_default_target_is_the_device(module):
    capability = jax.devices("cuda")[0].compute_capability.replace(".", "")
    number = int(capability)
    expected = f"sm_{number}"
    if number not in _nvrtc.supported_archs():
        expected = default_target("cuda").arch
    assert default_target("cuda", module.options) == Target("cuda", expected)


def test_the_installed_arch_is_found_without_starting_cuda():
    found = run_python("""
        from jax_rawcuda._device.driver import _driver
        from jax_rawcuda._device.installed import installed_arch
        print(installed_arch(), _driver.cache_info().currsize)
    """).stdout.split()
    capability = jax.devices("cuda")[0].compute_capability.replace(".", "")
    assert found == [f"sm_{capability}", "0"]
    assert source_arch(rc.NvrtcOptions(arch="sm_80")) == "sm_80"


def test_attributes_agree_with_the_compiler(module):
    target = default_target("cuda")
    for name in ("light", "heavy", "frame<64>"):
        function = module.function(name)
        asked = function.attributes
        reported = module._code.attributes(name, target)
        assert asked.registers == reported.registers
        assert asked.shared_bytes == reported.shared_bytes
        assert asked.local_bytes == reported.local_bytes
        assert asked.arch == target.arch
    assert module.function("heavy").attributes.shared_bytes == 4096
    assert module.function("heavy").attributes.max_threads == 128
    assert module.function("frame<64>").attributes.local_bytes >= 256


def test_occupancy_follows_block_and_shared_memory(module):
    light = module.function("light")
    full = light.occupancy(256)
    assert full.fraction == pytest.approx(1.0)
    assert full.warps == full.blocks * 8
    assert light.occupancy((16, 16)) == full
    heavy = module.function("heavy")
    assert heavy.occupancy(128, 64 << 10).blocks < heavy.occupancy(128).blocks


def test_occupancy_beyond_the_device_is_an_error(module):
    with pytest.raises(
        rc.BackendError, match="heavy: cuFuncSetAttribute failed"
    ) as info:
        module.function("heavy").occupancy(128, 10 << 20)
    assert info.value.code == "CUDA_ERROR_INVALID_VALUE"


def test_suggest_block(module):
    assert module.function("light").suggest_block() in range(32, 1025, 32)
    assert module.function("heavy").suggest_block() <= 128


def test_ptx_and_cubins_answer_too(module):
    target = default_target("cuda")
    heavy = module.function("heavy")
    expected = heavy.attributes
    cubin = rc.load_cubin(heavy.image(target).data)
    assert cubin.function("heavy").attributes == expected
    compute = Target("cuda", target.arch.replace("sm", "compute"))
    ptx = source_module(SOURCE, rc.NvrtcOptions(arch=compute.arch)).function("light")
    assert ptx.image(compute).kind == "ptx"
    if target.arch == COMMON_ARCH:  # the driver must know the PTX version
        assert ptx.attributes.registers > 0


def test_a_cubin_for_another_device_says_so(module):
    number = int(default_target("cuda").arch.removeprefix("sm_"))
    other = "sm_80" if number >= 90 else "sm_90"
    function = rc.load_cubin(
        module.function("light").image(Target("cuda", other)).data
    ).function("light")
    with pytest.raises(rc.BackendError, match=r"cu\w+ failed: CUDA_ERROR"):
        _ = function.attributes


def test_there_is_a_device():
    assert _device.has_device()
