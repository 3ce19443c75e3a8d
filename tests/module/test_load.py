"""PTX and cubins become modules."""

from __future__ import annotations

import pytest
from support.module_source import CPU, GPU, PTX, needs_nvrtc

import jax_rawcuda as rc
from jax_rawcuda._base.errors import SignatureError, UnsupportedError, ValidationError
from jax_rawcuda._compile.target import Target

pytestmark = pytest.mark.usefixtures("module_cache")


@pytest.fixture(scope="module")
def ptx(module):
    return module.function("plain").image(PTX).data.decode()


@needs_nvrtc
@pytest.mark.parametrize("form", ["text", "bytes", "nul", "path"])
def test_load_ptx(ptx, tmp_path, form):
    path = tmp_path / "k.ptx"
    path.write_text(ptx)
    forms = {"text": ptx, "bytes": ptx.encode(), "nul": ptx + "\0", "path": path}
    module = rc.load_ptx(
        forms[form], signature="plain(const float*, float*, float, int n)"
    )
    assert str(module.function("plain").signature) == (
        "void plain(const float* arg0, float* arg1, float arg2, int n)"
    )
    # A mangled symbol tells its types itself.
    assert str(module.function("over(float*)").signature) == "void over(float* arg0)"
    assert module.function("plain").image(CPU).kind == "host_ptx"
    assert module.function("plain").image(GPU).kind == "ptx"
    assert module.function("plain").lowered_name(GPU) == "plain"


@needs_nvrtc
def test_load_ptx_refuses(ptx):
    with pytest.raises(SignatureError, match=r"plain: an extern .* has no types"):
        _ = rc.load_ptx(ptx).function("plain").signature
    with pytest.raises(ValidationError, match="no kernel 'sapxy'"):
        rc.load_ptx(ptx, signature="sapxy(int)")
    wrong = rc.load_ptx(ptx, signature="plain(const float*, float*, double, int)")
    with pytest.raises(SignatureError, match=r"the type has 8 bytes, .* takes 4"):
        _ = wrong.function("plain").signature
    fewer = rc.load_ptx(ptx, signature="plain(const float*)")
    with pytest.raises(SignatureError, match=r"has 1 parameters .* has 4"):
        _ = fewer.function("plain").signature
    with pytest.raises(ValidationError, match="not PTX"):
        rc.load_ptx("__global__ void k() {}")
    with pytest.raises(ValidationError, match="empty"):
        rc.load_ptx("")
    with pytest.raises(ValidationError, match="NUL"):
        rc.load_ptx(ptx[:10] + "\0" + ptx[10:])
    assert rc.load_ptx(ptx) == rc.load_ptx(ptx)
    assert rc.load_ptx(ptx) != rc.load_ptx(ptx, signature="plain(int*, int*, int, int)")


@needs_nvrtc
@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_120"])
def test_load_cubin(module, tmp_path, arch):
    cubin = module.function("plain").image(Target("cuda", arch)).data
    path = tmp_path / "k.cubin"
    path.write_bytes(cubin)
    declared = "plain(const float* x, float* y, float a, int n)"
    loaded = rc.load_cubin(path, signature=[declared])
    assert str(loaded.function("plain").signature) == f"void {declared}"
    params = loaded.function("ns::params").signature.parameters
    from_source = module.function("ns::params").signature.parameters
    assert [p.size for p in params] == [p.size for p in from_source]
    assert [p.type for p in params] == [p.type for p in from_source]
    assert loaded.function("plain").image(GPU).data == cubin
    attributes = loaded._code.attributes("plain", Target("cuda", arch))
    expected = module._code.attributes("plain", Target("cuda", arch))
    assert attributes.registers == expected.registers
    assert attributes.max_threads == 256
    with pytest.raises(UnsupportedError, match="a cubin is machine code"):
        loaded.function("plain").image(CPU)


@needs_nvrtc
@pytest.mark.parametrize("cut", [0, 5, 100, 2000])
def test_a_truncated_cubin_is_refused(module, cut):
    cubin = module.function("plain").image(GPU).data
    with pytest.raises(ValidationError, match="not a cubin"):
        rc.load_cubin(cubin[:cut])
