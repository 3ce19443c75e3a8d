"""Images of rewritten kernels: made once, kept, and refused once."""

from __future__ import annotations

import pytest
from support.rewriting import HEADER

from jax_rawcuda import BackendError, cache_stats, clear_caches
from jax_rawcuda._compile.cubin import cubin_entries, cubin_variables
from jax_rawcuda._rewrite import image, link
from jax_rawcuda._rewrite.adaptation import Adaptation
from jax_rawcuda._rewrite.image import RewrittenImage, rewritten_image
from jax_rawcuda._rewrite.rewriting import Refusal

installed = pytest.mark.skipif(not link.is_available(), reason="needs nvJitLink")

PTX = f"""{HEADER}
.visible .const .align 4 .f32 factor;
.visible .const .align 4 .f32 lost;
.visible .entry other(.param .u64 p) {{ .reg .b64 %d; mov.u64 %d, lost; ret; }}
.visible .entry k(.param .u64 p, .param .f32 x) {{
  .reg .b64 %d; .reg .f32 %f<3>;
  ld.param.u64 %d, [p]; ld.param.f32 %f0, [x]; ld.const.f32 %f1, [factor];
  mul.f32 %f2, %f0, %f1; st.global.f32 [%d], %f2; ret;
}}
.visible .entry grids(.param .u64 p) {{ .reg .b64 %d; mov.u64 %d, %gridid; ret; }}
"""
BATCH = Adaptation(1, (0,))
VALUES = (("lost", b"0000"), ("factor", b"1111"))


@installed
def test_a_cubin_with_what_the_entry_reaches(fresh_cache):
    made = rewritten_image(PTX, "k", Adaptation(1, (0, 1), (1,)), "sm_90")
    assert made.kind == "cubin"
    (entry,) = cubin_entries(made.data)
    assert entry.symbol == "k"
    assert [parameter.size for parameter in entry.parameters] == [8] * 5
    assert [variable.symbol for variable in cubin_variables(made.data)] == ["factor"]
    assert made.kept(VALUES) == (("factor", b"1111"),)
    assert made.kept(()) == ()


@installed
def test_it_is_made_once(fresh_cache):
    first = rewritten_image(PTX, "k", BATCH, "sm_90")
    before = cache_stats()
    assert rewritten_image(PTX, "k", BATCH, "sm_90") == first
    clear_caches()  # what is on disk stays
    assert rewritten_image(PTX, "k", BATCH, "sm_90") == first
    after = cache_stats()
    assert after.compiles == before.compiles
    assert after.disk_hits == before.disk_hits + 1


@installed
@pytest.mark.parametrize(
    "other",
    [
        (PTX, "k", Adaptation(1, (0,), grid_z=2), "sm_90"),
        (PTX, "k", BATCH, "sm_100"),
        (PTX, "k", BATCH, "sm_90", ("--maxrregcount=16",)),
        (PTX, "other", BATCH, "sm_90"),
        (PTX + " ", "k", BATCH, "sm_90"),
    ],
    ids=["adaptation", "architecture", "flags", "entry", "text"],
)
def test_what_it_depends_on(fresh_cache, other):
    rewritten_image(PTX, "k", BATCH, "sm_90")
    before = cache_stats().compiles
    rewritten_image(*other)
    assert cache_stats().compiles == before + 1


def test_a_refusal_is_kept_as_well(fresh_cache):
    first = rewritten_image(PTX, "grids", BATCH, "sm_90")
    assert isinstance(first, Refusal)
    assert first.reason.startswith("it reads %gridid, which counts for the whole grid")
    before = cache_stats().compiles
    assert rewritten_image(PTX, "grids", BATCH, "sm_90") == first
    assert cache_stats().compiles == before


@installed
def test_what_the_linker_refuses(fresh_cache):
    newer = PTX.replace(".version 8.3", ".version 99.0")
    refused = rewritten_image(newer, "k", BATCH, "sm_90")
    assert isinstance(refused, Refusal)
    assert refused.reason.startswith(f"nvJitLink {link.version_text()} refuses it: ")
    assert "Unsupported .version 99.0" in refused.reason
    assert "\n" not in refused.reason


@installed
def test_other_failures_are_not_kept(fresh_cache, monkeypatch):
    def fail(*_):
        raise BackendError("nvJitLink: complete failed: ERROR_INTERNAL.")

    with monkeypatch.context() as patched:
        patched.setattr(link, "link", fail)
        with pytest.raises(BackendError, match="ERROR_INTERNAL"):
            rewritten_image(PTX, "k", BATCH, "sm_90")
    assert isinstance(rewritten_image(PTX, "k", BATCH, "sm_90"), RewrittenImage)


@pytest.mark.parametrize("arch", ["sm_90", "compute_90"])
def test_the_text_itself_travels(fresh_cache, monkeypatch, arch):
    if arch == "sm_90":
        monkeypatch.setattr(image.link, "is_available", lambda: False)
    made = rewritten_image(PTX, "k", BATCH, arch)
    assert made.kind == "ptx"
    assert b".param .u64 jrc_start" in made.data
    assert made.kept(VALUES) == (("factor", b"1111"),)
