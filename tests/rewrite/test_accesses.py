"""The widest access of a kernel, by which elements of a batch are aligned."""

from __future__ import annotations

import pytest
from support.rewriting import HEADER, compiled

from jax_rawcuda._compile import nvrtc
from jax_rawcuda._compile.compiler import nvrtc_for
from jax_rawcuda._rewrite.accesses import WIDEST, widest_access

SOURCES = {
    "nothing": ("void* p", "", 1),
    "a byte": ("char* p", "p[1] = p[0];", 1),
    "halves": ("short* p", "p[1] = p[0] + 1;", 2),
    "a float": ("float* p", "p[1] = p[0] + 1;", 4),
    "a double": ("double* p", "p[1] = p[0] + 1;", 8),
    "two floats": ("float2* p", "p[1] = p[0];", 8),
    "four floats": ("float4* p", "p[1] = p[0];", 16),
    "four bytes": ("uchar4* p", "uchar4 v = p[0]; v.x += v.y; p[1] = v;", 4),
    "an atomic": ("unsigned long long* p", "atomicAdd(p, 1ull);", 8),
    "in a function": ("float4* p", "p[1] = look(p);", 16),
    "only in shared memory": (
        "float* p",
        "__shared__ float4 s[4]; s[threadIdx.x] = make_float4(p[0], 1, 2, 3); "
        "__syncthreads(); float4 v = s[threadIdx.x ^ 1]; p[1] = v.x + v.w;",
        4,
    ),
}


@pytest.mark.skipif(not nvrtc.is_available(), reason="NVRTC is not installed")
@pytest.mark.parametrize("name", SOURCES)
def test_of_a_source(name):
    parameters, body, width = SOURCES[name]
    source = (
        "__device__ __noinline__ float4 look(const float4* p) { return *p; }"
        f'extern "C" __global__ void k({parameters}) {{ {body} }}'
        'extern "C" __global__ void wide(double2* p) { p[1] = p[0]; }'
    )
    ptx = compiled(source, nvrtc_for("sm_90"))
    assert widest_access(ptx, "k") == width
    assert widest_access(ptx, "wide") == 16


INSTRUCTIONS = {
    "ld.global.v8.f32 {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7}, [%d0];": 32,
    "ld.u32 %r0, [%d0];": 4,
    "ld.volatile.v4.u32 {%r0,%r1,%r2,%r3}, [%d0];": 16,
    "st.global.b128 [%d0], %q;": 16,
    "ld.shared.v4.u32 {%r0,%r1,%r2,%r3}, [%d0];": 1,
    "ld.const.v4.u32 {%r0,%r1,%r2,%r3}, [%d0];": 1,
    "st.local.v2.u64 [%d0], {%d1,%d2};": 1,
    "ld.param.u64 %d0, [p];": 1,
    "atom.global.v2.f32.add {%f0,%f1}, [%d0], {%f2,%f3};": 8,
    "atom.cas.b16 %h, [%d0], %h, %h;": 2,
    "red.global.add.noftz.f16x2 [%d0], %r0;": 4,
    "cp.async.ca.shared.global [%d0], [%d1], 8;": 8,
    "cp.async.cg.shared.global [%d0], [%d1], 16, %r0;": 16,
    "cp.async.commit_group;": 1,
    "cp.async.mbarrier.arrive.shared.b64 [%d0];": 1,
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
    "[%d0], [%d1], 4096, [%d2];": 16,
    "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%d0, {%r0}], [%d1];": 128,
    "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r0}, [%d0];": 32,
    "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r0}, [%d0];": 1,
    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%d0];": 1,
    "mbarrier.arrive.b64 %d0, [%d1];": 1,
    "prefetch.global.L2 [%d0];": 1,
    "discard.global.L2 [%d0], 128;": 128,
    "multimem.red.global.add.f32 [%d0], %f0;": 16,
}


@pytest.mark.parametrize("instruction", INSTRUCTIONS)
def test_of_an_instruction(instruction):
    registers = ".reg .b64 %d<9>; .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b16 %h;"
    text = f"{HEADER}.entry k(.param .u64 p) {{ {registers} {instruction} ret; }}"
    assert widest_access(text, "k") == INSTRUCTIONS[instruction]


def test_a_text_that_cannot_be_read():
    assert widest_access(f"{HEADER}.entry k() {{ .bogus; }}", "k") == WIDEST
    assert widest_access(f"{HEADER}.entry k() {{", "k") == WIDEST
