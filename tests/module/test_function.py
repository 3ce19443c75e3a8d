"""Functions: identity, images, targets, and what a kernel takes."""

from __future__ import annotations

import hashlib
import pickle

import pytest
from support.module_source import CPU, GPU, PTX, SIGNATURES, needs_nvrtc
from support.process import run_python

import jax_rawcuda as rc
from jax_rawcuda._base.errors import UnsupportedError, ValidationError
from jax_rawcuda._compile import nvrtc as _nvrtc
from jax_rawcuda._compile import target as _target
from jax_rawcuda._compile.target import Target, default_target
from jax_rawcuda._device import driver as _device
from jax_rawcuda._module.load import source_module
from jax_rawcuda._module.source_code import SourceCode

pytestmark = pytest.mark.usefixtures("module_cache")

# Identity.


def test_modules_and_functions_compare_by_content():
    source = "__global__ void same(int* x) {}"
    one, two = source_module(source), source_module(source)
    assert one == two
    assert hash(one) == hash(two)
    assert one.function("same") == two.function("same")
    assert len({one.function("same"), two.function("same")}) == 1
    assert one != source_module(source + " ")
    assert one != source_module(source, rc.NvrtcOptions(fast_math=True))
    assert one.function("same") != source_module(source + " ").function("same")


@needs_nvrtc
def test_images_hold_the_kernel_and_their_digest(module):
    function = module.function("ns::scaled<float, 4>")
    image = function.image(GPU)
    assert image.kind == "cubin"
    assert image.digest == hashlib.sha256(image.data).digest()
    assert function.lowered_name(GPU) in dict(image.lowered_names).values()
    text = function.image(PTX)
    assert text.kind == "ptx"
    assert f".entry {function.lowered_name(PTX)}" in text.data.decode()
    assert not any("probe" in name for name, _ in image.lowered_names)


def test_the_cpu_image_comes_from_clang(module):
    function = module.function("plain")
    image = function.image(CPU)
    assert image.kind == "host_ptx"
    assert f".entry {function.lowered_name(CPU)}(" in image.data.decode()


@needs_nvrtc
def test_the_cpu_front_end_can_be_chosen(module, monkeypatch):
    monkeypatch.setenv("JAX_RAWCUDA_CPU_FRONTEND", "nvrtc")
    assert b"NVIDIA" in module.function("plain").image(CPU).data
    monkeypatch.setenv("JAX_RAWCUDA_CPU_FRONTEND", "gcc")
    with pytest.raises(ValidationError, match="'clang' or 'nvrtc' is needed"):
        module.function("plain").image(CPU)


@needs_nvrtc
def test_equal_text_gives_equal_bytes_in_another_process():
    program = """
        import jax_rawcuda as rc
        from jax_rawcuda._compile.target import Target
        f = rc.compile_nvrtc("__global__ void k(int* x) { *x = 5; }").function("k")
        print(f.module.digest.hex(), f.image(Target("cuda", "sm_90")).digest.hex())
    """
    first, second = (
        run_python(program, JAX_RAWCUDA_CACHE_DIR=setting).stdout
        for setting in ("off", "")
    )
    assert first == second
    assert len(first.split()) == 2


# Targets.


def test_default_targets(monkeypatch):
    assert default_target("cpu") == CPU
    with pytest.raises(ValidationError, match="platform='tpu'"):
        default_target("tpu")
    options = rc.NvrtcOptions(arch="sm_80")
    assert default_target("cuda", options) == Target("cuda", "sm_80")
    monkeypatch.setattr(_target, "_device_arch", lambda: None)
    assert default_target("cuda") == PTX


@needs_nvrtc
@pytest.mark.parametrize(
    ("capability", "arch"),
    [(80, "sm_80"), (90, "sm_90"), (61, "sm_61"), (999, "compute_121")],
)
def test_the_arch_of_a_device(monkeypatch, capability, arch):
    monkeypatch.setattr(_nvrtc, "supported_archs", lambda: (75, 80, 90, 121))
    monkeypatch.setattr(_target, "_device_arch", lambda: capability)
    assert default_target("cuda") == Target("cuda", arch)


# What a kernel takes.


@needs_nvrtc
def test_attributes_without_a_gpu(module, monkeypatch):
    monkeypatch.setattr(_device, "_driver", lambda: None)
    attributes = module.function("plain").attributes
    assert attributes.registers > 0
    assert attributes.max_threads == 256
    assert (attributes.shared_bytes, attributes.spill_bytes) == (0, 0)
    assert module.function("kinds").attributes.max_threads == 1024


@pytest.mark.parametrize(
    "ask",
    [
        lambda f: f.occupancy(128),
        lambda f: f.occupancy((8, 8)),
        rc.Function.suggest_block,
    ],
    ids=["occupancy", "occupancy_2d", "suggest_block"],
)
def test_questions_that_need_a_gpu_say_so(monkeypatch, ask):
    monkeypatch.setattr(_device, "_driver", lambda: None)
    function = source_module("__global__ void k() {}").function()
    with pytest.raises(UnsupportedError, match="k: this question needs a CUDA device"):
        ask(function)


@pytest.mark.parametrize("block", [0, -1, (0, 1), 1025, (1024, 2)])
def test_impossible_blocks(block):
    function = source_module("__global__ void k() {}").function()
    with pytest.raises(ValidationError, match="block="):
        function.occupancy(block)


# For people.


def test_repr_does_not_compile(monkeypatch):
    def refuse(*args):
        raise AssertionError("compiled")

    monkeypatch.setattr(SourceCode, "_result", refuse)
    module = source_module("__global__ void k(int* x) {}")
    assert repr(module) == "Module('k', kernels=['k'])"
    assert repr(module.function("k")) == "Function('k')"


@needs_nvrtc
def test_repr_shows_the_signature_once_known(module):
    function = module.function("plain")
    _ = function.signature
    assert repr(function) == f"Function({SIGNATURES['plain']})"
    table = function._repr_html_()
    assert "<code>const float*</code>" in table
    assert "registers" in table


def test_a_module_pickles(module):
    copy = pickle.loads(pickle.dumps(module))
    assert copy == module
    assert copy.function("plain") == module.function("plain")
