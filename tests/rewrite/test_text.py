"""Rewritten text: how each use of a parameter and of the grid is changed."""

from __future__ import annotations

import numpy as np
import pytest
from support.rewriting import HEADER, Result, compiled, rewritten, run

import jax_rawcuda as rc
from jax_rawcuda import cpu
from jax_rawcuda._compile import nvrtc
from jax_rawcuda._compile.compiler import nvrtc_for
from jax_rawcuda._rewrite.adaptation import Adaptation
from jax_rawcuda._rewrite.link import is_available, link

REGISTERS = (
    ".reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<8>; .reg .b64 %d<8>; .reg .f32 %f;"
)
PARAMETERS = ".param .u64 p, .param .align 8 .b8 s[32], .param .u32 n"
BATCH = Adaptation(1, (0,))


def kernel(body: str, parameters: str = PARAMETERS, front: str = "") -> str:
    return (
        f"{HEADER}{front}.visible .entry k({parameters})\n"
        f"{{\n{REGISTERS}\n{body}\nret;\n}}\n"
    )


def lines_of(text: str, adaptation: Adaptation) -> list[str]:
    """Rewrites; returns the statements after the prologue, on one line each."""
    changed = rewritten(text, "k", adaptation)
    if is_available():
        assert link(changed, "sm_90")
    body = changed[changed.index(REGISTERS) + len(REGISTERS) :]
    lines = [" ".join(line.split()) for line in body.splitlines()]
    return [line for line in lines if line and "jrc_v" not in line]


def changed_line(body: str, adaptation: Adaptation) -> str:
    """Returns what becomes of the last line of a body."""
    lines = lines_of(kernel(body), adaptation)
    return lines[lines.index("ret;") - 1]


LOADS = {
    "ld.param.u32 %r1, [s];": "ld.global.nc.u32 %r1, [%jrc_p1+0];",
    "ld.param.u32 %r1, [s+12];": "ld.global.nc.u32 %r1, [%jrc_p1+12];",
    "ld.param.b8 %h1, [ s + 3 ];": "ld.global.nc.b8 %h1, [%jrc_p1+3];",
    "ld.param::entry.s16 %r1, [s+2];": "ld.global.nc.s16 %r1, [%jrc_p1+2];",
    "ld.param.v2.u32 {%r1, %r2}, [s+8];": (
        "ld.global.nc.v2.u32 {%r1, %r2}, [%jrc_p1+8];"
    ),
    "ld.param.v4.u16 {%h0,%h1,%h2,%h3},[s];": (
        "ld.global.nc.v4.u16 {%h0,%h1,%h2,%h3},[%jrc_p1+0];"
    ),
    "ld.weak.param.u64 %d1, [s];": "ld.weak.global.u64 %d1, [%jrc_p1+0];",
    "setp.eq.u32 %p1, 1, 1; @!%p1 ld.param.f32 %f, [s+4];": (
        "setp.eq.u32 %p1, 1, 1; @!%p1 ld.global.nc.f32 %f, [%jrc_p1+4];"
    ),
    "{ .reg .b32 %r1; ld.param.u32 %r1, [s]; }": (
        "{ .reg .b32 %r1; ld.global.nc.u32 %r1, [%jrc_p1+0]; }"
    ),
    "ld.param.u32 /* a; b */ %r1, [s+4]; // [s+8]": (
        "ld.global.nc.u32 %r1, [%jrc_p1+4]; // [s+8]"
    ),
    "mov.b64 %d1, s;": "mov.b64 %d1, %jrc_p1;",
    "mov.u64 %d1, s+8;": "add.s64 %d1, %jrc_p1, 8;",
    "mov.b64 %d1, s; ld.param.u32 %r1, [%d1+4];": (
        "mov.b64 %d1, %jrc_p1; ld.global.nc.u32 %r1, [%d1+4];"
    ),
    "mov.b64 %d1, s; add.s64 %d2, %d1, 8; ld.param.u32 %r1, [%d2];": (
        "mov.b64 %d1, %jrc_p1; add.s64 %d2, %d1, 8; ld.global.nc.u32 %r1, [%d2];"
    ),
    "mov.b64 %d1, s; cvta.param.u64 %d2, %d1; ld.u32 %r1, [%d2];": (
        "mov.b64 %d1, %jrc_p1; cvta.global.u64 %d2, %d1; ld.u32 %r1, [%d2];"
    ),
    # Another parameter stays as it is.
    "ld.param.u32 %r1, [n];": "ld.param.u32 %r1, [n];",
    "mov.b64 %d1, n; ld.param.u32 %r1, [%d1];": (
        "mov.b64 %d1, n; ld.param.u32 %r1, [%d1];"
    ),
}


@pytest.mark.parametrize("given", LOADS)
def test_a_dynamic_parameter(given):
    assert changed_line(given, Adaptation(dynamic=(1,))) == LOADS[given]


POINTERS = {
    "ld.param.u64 %d1, [p];": "mov.b64 %d1, %jrc_p0;",
    "ld.param.b64\t%d1,[p+0];": "mov.b64 %d1,%jrc_p0;",
    "setp.eq.u32 %p1, 1, 1; @%p1 ld.param.s64 %d1, [p];": (
        "setp.eq.u32 %p1, 1, 1; @%p1 mov.b64 %d1, %jrc_p0;"
    ),
}


@pytest.mark.parametrize("given", POINTERS)
def test_a_batched_pointer(given):
    assert changed_line(given, BATCH) == POINTERS[given]


# The user's own extent -> what becomes of a line.
GRID = {
    "mov.u32 %r1, %ctaid.z;": ("mov.u32 %r1, 0;", "mov.u32 %r1, %jrc_s; }"),
    "mov.b32 %r1, %nctaid.z;": ("mov.b32 %r1, 1;", "mov.b32 %r1, 5;"),
    "cvt.u64.u32 %d1, %ctaid.z;": ("cvt.u64.u32 %d1, 0;", "cvt.u64.u32 %d1, %jrc_s; }"),
    "mov.u16 %h1, %nctaid.z;": ("mov.u16 %h1, 1;", "mov.u16 %h1, 5;"),
    "mov.v4.u32 {%r1, %r2, %r3, %r4}, %ctaid;": (
        "mov.v4.u32 {%r1, %r2, %r3, %r4}, %ctaid; rem.u32 %r3, %r3, 1;",
        "mov.v4.u32 {%r1, %r2, %r3, %r4}, %ctaid; rem.u32 %r3, %r3, 5;",
    ),
    "mov.v4.u32 {%r1, %r2, %r3, _}, %nctaid;": (
        "mov.v4.u32 {%r1, %r2, %r3, _}, %nctaid; mov.u32 %r3, 1;",
        "mov.v4.u32 {%r1, %r2, %r3, _}, %nctaid; mov.u32 %r3, 5;",
    ),
    "mov.v4.u32 {%r1, %r2, _, _}, %ctaid;": (
        "mov.v4.u32 {%r1, %r2, _, _}, %ctaid;",
        "mov.v4.u32 {%r1, %r2, _, _}, %ctaid;",
    ),
    "mov.u32 %r1, %ctaid.x;": ("mov.u32 %r1, %ctaid.x;", "mov.u32 %r1, %ctaid.x;"),
    "mov.v4.u32 {%r1, %r2, %r3, %r4}, %tid;": (
        "mov.v4.u32 {%r1, %r2, %r3, %r4}, %tid;",
        "mov.v4.u32 {%r1, %r2, %r3, %r4}, %tid;",
    ),
}


@pytest.mark.parametrize("given", GRID)
def test_the_grid_along_z(given):
    alone, many = GRID[given]
    assert changed_line(given, BATCH) == alone
    assert changed_line(given, Adaptation(1, (0,), grid_z=5)).endswith(many)
    assert changed_line(given, Adaptation(dynamic=(2,))) == given


GUARDED = """
ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 16;
mov.u32 %r2, 77;
@!%p1 mov.u32 %r2, %ctaid.z; @%p1 mov.u32 %r2, %nctaid.z;
mul.wide.u32 %d2, %r1, 4; add.s64 %d1, %d1, %d2;
st.global.u32 [%d1], %r2;
"""


@pytest.mark.parametrize("grid_z", [1, 3])
def test_guarded_reads_of_the_grid(device, grid_z):
    adaptation = Adaptation(1, (0,), grid_z=grid_z)
    text = kernel(GUARDED, ".param .u64 p")
    got = run(device, text, "k", adaptation, [Result((32,), "int32")], sizes=(4,))
    np.testing.assert_array_equal(got[:, :16], grid_z)
    # Some block of the element was the last to write its own index.
    assert set(got[:, 16:].flat) <= set(range(grid_z))


PROLOGUES = {
    "no parentheses": "",
    "none": "()",
    "a comment": "( // none ) yet\n)",
}


@pytest.mark.parametrize("parameters", PROLOGUES.values(), ids=PROLOGUES)
def test_a_kernel_without_parameters(parameters):
    text = f"{HEADER}.visible .entry k{parameters}\n.maxntid 32, 1, 1\n{{ ret; }}\n"
    changed = rewritten(text, "k", Adaptation(1))
    function = cpu.parse(changed).functions["k"]
    assert [v.name for v in function.parameters] == ["jrc_start"]
    assert function.directives["maxntid"] == (32, 1, 1)


def test_the_parameter_list():
    parameters = """
        .param .u64 .ptr .global .align 16 p, // the first, p
        .param .align 16 .b8 s[48], /* ) */
        .param .f64 x"""
    changed = rewritten(kernel("", parameters), "k", Adaptation(2, (0, 1), (1, 2)))
    function = cpu.parse(changed).functions["k"]
    declared = [(v.name, v.type, v.size) for v in function.parameters]
    assert declared[:3] == [("p", "u64", 8), ("s", "u64", 8), ("x", "u64", 8)]
    assert [name for name, *_ in declared[3:]] == [
        "jrc_start",
        "jrc_size_1",
        "jrc_reciprocal_1",
        *("jrc_stride_0_0", "jrc_stride_0_1", "jrc_stride_1_0", "jrc_stride_1_1"),
    ]
    assert {(kind, size) for _, kind, size in declared} == {("u64", 8)}


def test_names_of_ours_may_be_taken():
    parameters = (
        ".param .u64 jrc_start, .param .u64 jrc_, .param .u64 $x, .param .u32 %y"
    )
    body = ".reg .u64 %jrc_v; ld.param.u64 %d1, [$x]; ld.param.u32 %r1, [%y];"
    adaptation = Adaptation(1, (2, 3), (3,))
    changed = rewritten(kernel(body, parameters), "k", adaptation)
    assert "mov.b64 %d1, %jrc__p2;" in changed
    assert "ld.global.nc.u32 %r1, [%jrc__p3+0];" in changed
    names = [v.name for v in cpu.parse(changed).functions["k"].parameters]
    assert names[:4] == ["jrc_start", "jrc_", "$x", "%y"]
    assert names[4:] == ["jrc__start", "jrc__stride_2_0", "jrc__stride_3_0"]
    if is_available():
        link(changed, "sm_90")


def test_a_loop_that_begins_with_the_body_computes_addresses_once():
    body = "AGAIN: ld.param.u64 %d1, [p]; st.global.u32 [%d1], 1; bra AGAIN;"
    changed = rewritten(kernel(body), "k", BATCH)
    assert changed.index("mad.lo.u64") < changed.index("AGAIN:")


@pytest.mark.parametrize("grid_z", [1, 2])
def test_addresses_come_before_all_else(device, grid_z):
    body = "mov.u32 %r1, %ctaid.z; ld.param.u64 %d1, [p]; st.global.u32 [%d1], %r1;"
    text = f"{HEADER}.visible .entry k(.param .u64 p) {{ {REGISTERS} {body} ret; }}"
    adaptation = Adaptation(1, (0,), grid_z=grid_z)
    got = run(device, text, "k", adaptation, [Result((1,), "int32")], sizes=(5,))
    assert set(got.flat) <= set(range(grid_z))
    changed = rewritten(text, "k", adaptation)
    assert changed.index("mad.lo.u64") < changed.index("st.global")


def test_a_pragma_stays_with_what_follows():
    body = '.pragma "used_bytes_mask 7"; ld.param.v4.b8 {%h0, %h1, %h2, %h3}, [s];'
    lines = lines_of(kernel(body), Adaptation(dynamic=(1,)))
    assert lines[lines.index("ret;") - 1] == (
        '.pragma "used_bytes_mask 7"; '
        "ld.global.nc.v4.b8 {%h0, %h1, %h2, %h3}, [%jrc_p1+0];"
    )


WHOLE = """
.func unused(.param .u32 x) { ret; }
.func (.param .b32 r) twice(.param .b32 x);
.func last(.param .u32 x) { .reg .b32 %r; mov.u32 %r, %ctaid.z; ret; }
.extern .shared .align 16 .b8 dynamic[];
.extern .shared .align 16 .b8 other[];
.const .align 4 .b8 table[8] = {1, 2};
.const .align 4 .b8 lost[8] = {3, 4};
.global .align 8 .u64 jumps[1] = {last};
.visible .entry gone() { ret; }
.func (.param .b32 r) twice(.param .b32 x) {
  .reg .b32 %r1; .reg .b64 %d; ld.param.b32 %r1, [x]; mov.b64 %d, table;
  st.param.b32 [r], %r1; ret;
}
.alias again, twice;
"""
CALL = """
.pragma "nounroll";
.loc 1 7 3
mov.u64 %d1, dynamic; mov.u64 %d2, jumps;
{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r1;
  call (b), again, (a); ld.param.b32 %r1, [b]; }
"""


def test_only_what_the_entry_reaches_remains():
    text = kernel(CALL, front=WHOLE).replace(
        ") {", ")\n.minnctapersm 2 .maxnreg 64 {", 1
    )
    changed = rewritten(text, "k", BATCH)
    module = cpu.parse(changed)
    assert set(module.functions) == {"k", "twice", "again", "last"}
    assert set(module.variables) == {"dynamic", "table", "jumps"}
    assert changed.count("twice(") == 2  # the declaration, too
    assert ".loc 1 7 3" in changed
    assert '.pragma "nounroll";' in changed
    assert changed.startswith(".version 8.3\n.target sm_90\n.address_size 64\n")
    assert '.file 1 "demo.cu"' in changed
    assert "mov.u32 %r, 0; ret;" in changed  # in the function of the table


def test_directives_of_the_entry_remain():
    directives = ".reqntid 32, 2, 1\n.minnctapersm 2\n.maxnreg 64\n"
    text = kernel("").replace(")\n{", f")\n{directives}{{")
    changed = rewritten(text, "k", BATCH)
    assert cpu.parse(changed).functions["k"].directives == {
        "reqntid": (32, 2, 1),
        "minnctapersm": (2,),
        "maxnreg": (64,),
    }


def test_a_kernel_that_waits_for_others_reads_scalars_after_them():
    body = "griddepcontrol.wait; ld.param.u32 %r1, [n];"
    lines = lines_of(kernel(body), Adaptation(dynamic=(2,)))
    assert "griddepcontrol.wait; ld.global.u32 %r1, [%jrc_p2+0];" in lines
    assert "griddepcontrol.wait;" in lines
    # A pointer alone is no value: nothing waits for it.
    assert "griddepcontrol.wait;" not in lines_of(kernel(body), BATCH)


HELPERS = r"""
__device__ __forceinline__ float helper(float x) { return x * 2.f + blockIdx.z; }
__device__ __noinline__ float big(float x) { return helper(x) + blockIdx.x; }
extern "C" __global__ void k(const float* x, float a, float* out) {
  out[threadIdx.x] = helper(big(a * x[threadIdx.x]));
}
extern "C" __global__ void other(float* out) { out[threadIdx.x] = 1; }"""


@pytest.mark.skipif(
    not (nvrtc.is_available() and is_available()), reason="NVRTC, nvJitLink"
)
@pytest.mark.parametrize("options", [{"line_info": True}, {"debug": True}])
def test_lines_remain_and_debug_sections_go(options):
    ptx = compiled(HELPERS, nvrtc_for("sm_90"), options=rc.NvrtcOptions(**options))
    changed = rewritten(ptx, "k", Adaptation(1, (0, 1, 2), dynamic=(1,)))
    assert ".loc" in changed
    assert ".debug_info" not in changed
    assert "other" not in changed
    cubin = link(changed, "sm_90", ("-lineinfo",))
    assert b".debug_line" in cubin
    assert b"k.cu" in cubin
