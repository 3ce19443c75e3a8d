"""Variables of a module: those that nobody writes may be there twice, others not."""

from __future__ import annotations

import pytest
from support.rewriting import HEADER, compiled, refusal, rewritten

from jax_rawcuda._compile import nvrtc
from jax_rawcuda._compile.compiler import CLANG, nvrtc_for
from jax_rawcuda._rewrite.adaptation import Adaptation

BATCH = Adaptation(1, (0,))
COMPILERS = [
    CLANG,
    pytest.param(
        nvrtc_for("sm_90"),
        marks=pytest.mark.skipif(not nvrtc.is_available(), reason="NVRTC"),
    ),
]
compilers = pytest.mark.parametrize("compiler", COMPILERS, ids=["clang", "nvrtc"])

FRONT = r"""
__constant__ float constants[8] = {1, 2, 3};
__device__ float table[8] = {1, 2, 3};
__device__ float counter;
__device__ float* cursor;
__device__ const char* names[2] = {"one", "two"};
template <typename T> __device__ __noinline__ T* at(T* base, int i) { return base + i; }
__device__ __noinline__ float read(const float* p, int i) { return p[i & 7]; }
__device__ __noinline__ void write(float* p, int i) { p[i & 7] += 1; }
struct Pair { const float* first; float* second; };
__device__ __noinline__ float look(Pair pair, int i) {
  return *pair.first + pair.second[i];
}
__device__ __noinline__ void through(Pair pair, int i) { pair.second[i] = *pair.first; }
#define K extern "C" __global__ void k(float* out, int n)
"""

READ_ONLY = {
    "a constant": "K { *out = constants[n & 7]; }",
    "a table": "K { *out = table[n & 7]; }",
    "through a function": "K { *out = read(table, n); }",
    "through an address that a function returns": "K { *out = *at(table, n); }",
    "copied into a struct": "K { Pair p{table, out}; *out = look(p, n); }",
    "a table of strings": r'K { printf("%s %d\n", names[n & 1], n); *out = n; }',
    "an assertion": "K { assert(n > 3); *out = n; }",
    "a choice": "K { *out = *(n > 3 ? table : constants); }",
    "one beside another": (
        "K { *out = table[1]; }  __global__ void o() { counter = 1; }"
    ),
    "memory of its own": (
        "K { __shared__ float s[8]; write(s, n); *out = s[n] + table[n]; }"
    ),
}
WRITTEN = {
    "by the kernel": (
        "K { counter = n; }",
        "it uses variable counter, which is written",
    ),
    "by an atomic": ("K { atomicAdd(&counter, 1.f); }", "written by `"),
    "by another kernel": (
        "K { *out = counter; }  __global__ void o() { counter = 1; }",
        "of o()",
    ),
    "in a function": ("K { write(table, n); *out = 1; }", "of write(float*, int)"),
    "through an address that a function returns": (
        "K { *at(table, n) = 1; }",
        "it uses variable table, which is written",
    ),
    "through a struct": (
        "K { Pair p{out, table}; through(p, n); }",
        "it uses variable table, which is written",
    ),
    "after a choice": (
        "K { __shared__ float s[8]; *(n > 3 ? table : s) = 1; *out = *s; }",
        "it uses variable table, which is written",
    ),
    "through memory": (
        "K { __shared__ float* s[2]; s[n & 1] = table; __syncthreads(); *s[0] = 2; }",
        "it uses variable table, ",
    ),
    "who knows where": (
        "K { *(float**)out = table; }",
        "it uses variable table, whose address is kept where it cannot be followed.",
    ),
    "a pointer that is a variable": (
        "K { cursor = out; }",
        "it uses variable cursor, which is written",
    ),
}


@compilers
@pytest.mark.parametrize("name", READ_ONLY)
def test_what_nobody_writes(compiler, name):
    rewritten(compiled(FRONT + READ_ONLY[name], compiler), "k", BATCH)


@compilers
@pytest.mark.parametrize("name", WRITTEN)
def test_what_somebody_may_write(compiler, name):
    source, reason = WRITTEN[name]
    assert reason in refusal(compiled(FRONT + source, compiler), "k", BATCH)


BODY = ".reg .b64 %d<9>; .reg .b32 %r<9>; .reg .pred %p;"


def kernel(body, front=""):
    return (
        f"{HEADER}{front}.visible .entry k(.param .u64 p) {{ {BODY}\n{body} ret; }}\n"
    )


GLOBAL = ".global .align 8 .b64 v[4];\n"
ADDRESS = "mov.u64 %d1, v; "
ESCAPES = {
    "of an unknown function": (
        f"{GLOBAL}.extern .func f(.param .b64 a);\n",
        "{ .param .b64 a; st.param.b64 [a], %d1; call f, (a); }",
    ),
    "of a function through a register": (
        GLOBAL,
        "{ .param .b64 a; st.param.b64 [a], %d1; P: .callprototype _ (.param .b64 _); "
        "call %d2, (a), P; }",
    ),
    "generic memory": (GLOBAL, "st.u64 [%d2], %d1;"),
    "shared memory, who knows where": (GLOBAL, "st.shared.u64 [%d2], %d1;"),
    "a copy": (
        f".global .align 8 .b64 w[1] = {{v}};\n{GLOBAL}",
        "mov.u64 %d3, w; cp.async.bulk.shared::cluster.global [%d2], [%d3], 16;",
    ),
}


@pytest.mark.parametrize("name", ESCAPES)
def test_an_address_out_of_sight(name):
    front, body = ESCAPES[name]
    reason = refusal(kernel(ADDRESS + body, front), "k", BATCH)
    assert reason == (
        "it uses variable v, whose address is kept where it cannot be followed."
    )


WRITES = {
    "a store": "st.u64 [%d1+8], %d2;",
    "a reduction": "red.global.add.u64 [%d1], 1;",
    "an atomic": "atom.global.exch.b64 %d3, [%d1], %d2;",
    "a copy": "cp.async.bulk.global.shared::cta.bulk_group [%d1], [%d2], 16;",
    "a matrix": "wmma.store.d.sync.aligned.row.m16n16k16.global.s32 [%d1], {%r1}, 16;",
    "from a copy of the address": "add.s64 %d4, %d1, 8; st.u64 [%d4], %d2;",
    "from halves of the address": (
        "mov.b64 {%r1, %r2}, %d1; mov.b64 %d4, {%r1, %r2}; st.u64 [%d4], %d2;"
    ),
    "from the address out of a table": (
        "mov.u64 %d3, w; ld.global.u64 %d4, [%d3]; st.u64 [%d4], %d2;"
    ),
}


@pytest.mark.parametrize("name", WRITES)
def test_a_write(name):
    front = f"{GLOBAL}.global .align 8 .b64 w[1] = {{v}};\n"
    reason = refusal(kernel(ADDRESS + WRITES[name], front), "k", BATCH)
    assert reason.startswith("it uses variable v, which is written by `")


READS = {
    "a load": "ld.v2.u64 {%d3, %d4}, [%d1+16]; st.u64 [%d2], %d3;",
    "a prefetch": "prefetch.global.L2 [%d1];",
    "a matrix": "wmma.load.a.sync.aligned.row.m16n16k16.global.s8 {%r1}, [%d1], 16;",
    "a copy": "cp.async.ca.shared.global [%d2], [%d1], 8;",
    "a comparison": "setp.eq.u64 %p, %d1, %d2;",
    "none at all": "",
}


@pytest.mark.parametrize("name", READS)
def test_a_read(name):
    rewritten(kernel(ADDRESS + READS[name], GLOBAL), "k", BATCH)


@pytest.mark.parametrize(
    ("front", "body", "reason"),
    [
        (
            ".extern .global .align 4 .b32 far;",
            "mov.u64 %d1, far;",
            "it uses variable far, which others can write.",
        ),
        (
            ".visible .global .attribute(.managed) .align 4 .b32 both;",
            "mov.u64 %d1, both;",
            "it uses variable both, which others can write.",
        ),
        (
            "",
            ".global .align 4 .b32 own; mov.u64 %d1, own;",
            "it has a variable of its own, own, in k.",
        ),
        (
            f"{GLOBAL}.func (.reg .b32 %r) f(.reg .b32 %a) {{ ret; }}\n",
            "mov.u64 %d1, v;",
            "the PTX cannot be read: f has registers as parameters.",
        ),
    ],
)
def test_other_variables(front, body, reason):
    assert refusal(kernel(body, front), "k", BATCH) == reason
