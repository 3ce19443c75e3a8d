"""nvJitLink: what it makes, what it is told, what it refuses."""

from __future__ import annotations

import pickle
import sys

import pytest
from support.rewriting import HEADER

from jax_rawcuda import BackendError, CompileError, UnsupportedError
from jax_rawcuda._compile.cubin import cubin_entries
from jax_rawcuda._rewrite import link as linking
from jax_rawcuda._rewrite.link import link, link_flags

installed = pytest.mark.skipif(not linking.is_available(), reason="needs nvJitLink")

PTX = f"{HEADER}.visible .entry k(.param .u64 p, .param .f32 x) {{ ret; }}\n"


@installed
def test_a_cubin():
    (entry,) = cubin_entries(link(PTX, "sm_90"))
    assert entry.symbol == "k"
    assert [parameter.size for parameter in entry.parameters] == [8, 4]


@installed
def test_registers_are_bounded():
    names = ", ".join(f"%f{i}" for i in range(64))
    loads = "".join(f"ld.global.f32 %f{i}, [%d+{4 * i}]; " for i in range(64))
    sums = "".join(f"add.f32 %s, %s, %f{i}; " for i in range(64))
    body = f".reg .f32 {names}, %s; .reg .b64 %d; ld.param.u64 %d, [p];"
    body += (
        f"{loads} bar.sync 0; mov.f32 %s, 0f00000000; {sums} st.global.f32 [%d], %s;"
    )
    ptx = PTX.replace("ret;", f"{body} ret;")
    (free,) = cubin_entries(link(ptx, "sm_90"))
    (bound,) = cubin_entries(link(ptx, "sm_90", link_flags(["-maxrregcount=24"])))
    assert bound.registers <= 24 < free.registers


def test_flags_of_nvrtc_become_those_of_the_linker():
    flags = ["--std=c++17", "--maxrregcount=32", "-lineinfo", "-G", "-use_fast_math"]
    assert link_flags(flags) == ("-maxrregcount=32", "-lineinfo")
    assert link_flags(["-Xptxas=-O1", "--ptxas-options=-v"]) == (
        "-Xptxas=-O1",
        "-Xptxas=-v",
    )
    assert link_flags(["-D", "N=3", "--fmad=false"]) == ()


# Arguments -> what the message says.
REFUSED = {
    "no instruction": ((PTX.replace("ret", "rot"), "sm_90"), "Not a name of any known"),
    "no PTX": (("int main() {}", "sm_90"), "does not match type"),
    "an older architecture": ((PTX, "sm_80"), "SM version specified by .target"),
    "an unknown architecture": ((PTX, "sm_10"), "ERROR_UNSUPPORTED_ARCH"),
    "an unknown flag": ((PTX, "sm_90", ["-bogus"]), "ERROR_UNRECOGNIZED_OPTION"),
    "a missing function": (
        (
            f"{HEADER}.extern .func f();\n.visible .entry k() {{ call f; ret; }}",
            "sm_90",
        ),
        "Undefined reference to 'f'",
    ),
}


@installed
@pytest.mark.parametrize("name", REFUSED)
def test_what_it_refuses(name):
    arguments, reason = REFUSED[name]
    with pytest.raises(CompileError, match=reason) as caught:
        link(*arguments)
    error = caught.value
    head = f"rewritten PTX failed to link for {arguments[1]} "
    given = f"(nvJitLink {linking.version_text()}, options: -arch={arguments[1]}"
    assert str(error).startswith(head + given)
    assert reason in error.log
    assert error.source == arguments[0]
    assert error.arch == arguments[1]
    assert pickle.loads(pickle.dumps(error)).log == error.log


@installed
def test_another_failure_tells_its_code():
    with pytest.raises(BackendError, match="destroy failed: ERROR_NULL_INPUT") as e:
        linking._call("destroy", 0)
    assert e.value.code == "ERROR_NULL_INPUT"


def test_where_it_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "cuda.bindings.nvjitlink", None)
    monkeypatch.delattr("cuda.bindings.nvjitlink", raising=False)
    monkeypatch.setattr(linking, "_binding", linking._binding.__wrapped__)
    assert not linking.is_available()
    with pytest.raises(UnsupportedError, match="pip install cuda-bindings nvidia-nvj"):
        link(PTX, "sm_90")
