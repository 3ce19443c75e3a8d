"""Every kernel of the corpus is rewritten, or refused for a reason that is known."""

from __future__ import annotations

import re

import pytest
from support.paths import KERNELS
from support.rewriting import compiled

from jax_rawcuda import cpu
from jax_rawcuda._compile import nvrtc
from jax_rawcuda._compile.compilation import kernel_entries
from jax_rawcuda._compile.compiler import CLANG, nvrtc_for
from jax_rawcuda._rewrite.accesses import widest_access
from jax_rawcuda._rewrite.adaptation import Adaptation
from jax_rawcuda._rewrite.link import is_available, link
from jax_rawcuda._rewrite.rewriting import Refusal, rewrite

FILES = sorted(path.name for path in KERNELS.glob("*.cu"))
# Instances of the templates.
INSTANCES = {
    "attention.cu": ("attention<16, 32>",),
    "conv2d.cu": ("conv2d<3, 2>",),
    "reduce.cu": ("sum_template<double, 128>",),
    "scan.cu": ("inclusive_scan<float>", "exclusive_scan<int, 256>"),
    "sgemm.cu": ("sgemm<32, 64, 8, 4, 8>",),
    "sort.cu": ("sort_rows<float>",),
    "stencil.cu": ("heat<double>",),
    "transpose.cu": ("transpose<float>",),
}
# Beginnings of names -> why they are refused; both compilers agree unless it says so.
REFUSED = {
    ("clusters.cu", ""): "clusters|cluster_|clusterid",
    ("atomics.cu", "last_block"): "uses variable finished, which is written by",
    ("groups.cu", "grid_normalise"): "reads %envreg",
    ("language.cu", "calls"): "uses variable vtable for Disc, whose address",
}
REFUSED_FOR_NVRTC = {("groups.cu", "dynamic_group"): "reads %cluster_ctarank"}


def adaptations(entry):
    """All parameters batched, all that are no pointers dynamic."""
    indices = range(len(entry.parameters))
    pointers = [i for i in indices if entry.parameters[i].abi in ("u64", "b64")]
    dynamic = tuple(i for i in indices if i not in pointers)
    yield Adaptation(1, tuple(indices), dynamic)
    yield Adaptation(3, tuple(indices), dynamic, grid_z=2)


def expected(file, entry, nvrtc_too):
    reasons = REFUSED | (REFUSED_FOR_NVRTC if nvrtc_too else {})
    for (name, beginning), reason in reasons.items():
        if name == file and entry.startswith(beginning):
            return reason
    return None


def sweep(file, compiler):
    """Yields the entry and the text of what is rewritten; checks what is not."""
    source = (KERNELS / file).read_text()
    ptx = compiled(source, compiler, INSTANCES.get(file, ()))
    entries = kernel_entries(ptx)
    assert entries
    for entry in entries:
        assert widest_access(ptx, entry.symbol) in (1, 2, 4, 8, 16)
        reason = expected(file, entry.symbol, compiler is not CLANG)
        for adaptation in adaptations(entry):
            outcome = rewrite(ptx, entry.symbol, adaptation)
            if reason is not None:
                assert isinstance(outcome, Refusal), entry.symbol
                assert re.search(reason, outcome.reason)
            else:
                assert not isinstance(outcome, Refusal), (entry.symbol, outcome)
                yield entry, adaptation, outcome.ptx


@pytest.mark.skipif(
    not (nvrtc.is_available() and is_available()), reason="needs NVRTC and nvJitLink"
)
@pytest.mark.parametrize("file", FILES)
def test_the_ptx_of_nvrtc_links(file):
    for _, _, text in sweep(file, nvrtc_for("sm_90")):
        link(text, "sm_90")


@pytest.mark.parametrize("file", FILES)
def test_the_ptx_of_clang_is_read_again(file):
    for entry, adaptation, text in sweep(file, CLANG):
        function = cpu.parse(text).functions[entry.symbol]
        appended = adaptation.appended_count
        assert len(function.parameters) == len(entry.parameters) + appended
        assert "%ctaid.z" in text
        assert not re.search(r"%nctaid\.z", text)
