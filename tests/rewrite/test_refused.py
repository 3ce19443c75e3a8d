"""What is not rewritten, and the reason that is given."""

from __future__ import annotations

import random

import pytest
from support.rewriting import HEADER, compiled, refusal, rewritten

from jax_rawcuda import ValidationError
from jax_rawcuda._rewrite.accesses import widest_access
from jax_rawcuda._rewrite.adaptation import Adaptation
from jax_rawcuda._rewrite.rewriting import rewrite

REGISTERS = ".reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<8>; .reg .b64 %d<8>;"
PARAMETERS = ".param .u64 p, .param .u64 q, .param .align 8 .b8 s[32], .param .u32 n"
BATCH = Adaptation(1, (0,))
SCALARS = Adaptation(dynamic=(2, 3))


def kernel(body, front="", directives=""):
    return (
        f"{HEADER}{front}.visible .entry k({PARAMETERS}) {directives}\n"
        f"{{\n{REGISTERS}\n.loc 1 42 7\n{body}\nret;\n}}\n"
    )


# What the entry does -> (how it is changed, the reason).
REASONS = {
    "mov.u32 %r1, %clusterid.x;": (
        BATCH,
        "it reads %clusterid.x, which counts for the whole grid, in instruction "
        "`mov.u32 %r1, %clusterid.x` at demo.cu:42.",
    ),
    "mov.u32 %r1, %nclusterid.y;": (BATCH, "it reads %nclusterid.y, which counts"),
    "mov.u32 %r1, %cluster_ctaid.x;": (BATCH, "it reads %cluster_ctaid.x, which"),
    "mov.u32 %r1, %cluster_nctarank;": (BATCH, "it reads %cluster_nctarank, which"),
    "mov.pred %p1, %is_explicit_cluster;": (BATCH, "it reads %is_explicit_cluster"),
    "mov.u64 %d1, %gridid;": (BATCH, "it reads %gridid, which counts for the whole"),
    "mov.u32 %r1, %envreg2;": (BATCH, "it reads %envreg2, which counts for the whole"),
    "barrier.cluster.arrive;": (
        BATCH,
        "it works on clusters of blocks, in instruction `barrier.cluster.arrive` at "
        "demo.cu:42.",
    ),
    "mapa.u64 %d1, %d2, 1;": (BATCH, "it works on clusters of blocks, in instruction"),
    ".reg .v4 .b32 %v; mov.v4.u32 %v, %ctaid;": (
        BATCH,
        "it reads all of %ctaid or %nctaid into one register, in instruction `mov.v4",
    ),
    "mov.u16 %h1, %ctaid.z;": (
        Adaptation(1, (0,), grid_z=2),
        "it reads %ctaid.z into a register that has not 32 bits, in instruction",
    ),
    "mov.b64 %d1, p;": (
        BATCH,
        "it takes the address of parameter p, in instruction `mov.b64 %d1, p` at "
        "demo.cu:42.",
    ),
    "ld.param.u32 %r1, [p+4];": (BATCH, "it reads a part of the pointer p, in"),
    "ld.param.v2.b32 {%r1, %r2}, [p];": (BATCH, "it reads a part of the pointer p"),
    "cvta.param.u64 %d1, p;": (BATCH, "it takes the address of parameter p, in"),
    "{ .reg .b64 p; mov.u64 p, 1; }": (
        BATCH,
        "it names parameter p outside of any instruction.",
    ),
    "mov.b64 %d1, s; st.global.u64 [%d2], %d1;": (
        SCALARS,
        "it takes the address of parameter s, in instruction `st.global.u64 [%d2], %d1",
    ),
    "mov.b64 %d1, s; { .param .b64 a; st.param.b64 [a], %d1; }": (
        SCALARS,
        "it takes the address of parameter s, in instruction `st.param.b64 [a], %d1`",
    ),
    "mov.b64 %d1, s; xor.b64 %d2, %d1, 4;": (SCALARS, "it takes the address of"),
    "mov.b64 %d1, s; ld.u32 %r1, [%d1];": (SCALARS, "it takes the address of"),
    "mov.b32 %r1, s;": (SCALARS, "it takes the address of parameter s, in instruction"),
    "cvta.param.u64 %d1, s+8;": (SCALARS, "it takes the address of parameter s, in"),
    "add.s64 %d1, s+8, 4;": (SCALARS, "it takes the address of parameter s, in"),
    "mov.b64 %d1, s; mov.b64 %d2, q; selp.b64 %d3, %d1, %d2, %p1; "
    "ld.param.u32 %r1, [%d3];": (
        SCALARS,
        "it reads one of the parameters q, s, of which some are not changed, in "
        "instruction `ld.param.u32 %r1, [%d3]`",
    ),
    "cvta.to.param.u64 %d1, %d2;": (
        SCALARS,
        "it makes an address in parameters out of another, in instruction `cvta.to",
    ),
    "st.param.u32 [n], 1;": (SCALARS, "it takes the address of parameter n, in"),
}


@pytest.mark.parametrize("body", REASONS)
def test_an_instruction(body):
    adaptation, reason = REASONS[body]
    assert reason in refusal(kernel(body), "k", adaptation)


@pytest.mark.parametrize(
    "body", [body for body, (adaptation, _) in REASONS.items() if adaptation == BATCH]
)
def test_what_only_a_batch_forbids(body):
    last = body.split("; ")[-1]
    assert last in rewritten(kernel(body), "k", Adaptation(dynamic=(3,)))


@pytest.mark.parametrize(
    "directive", [".explicitcluster", ".reqnctapercluster 2, 1, 1"]
)
def test_clusters_by_directive(directive):
    reason = refusal(kernel("", directives=directive), "k", BATCH)
    assert reason == (
        f"its blocks form clusters, by the directive {directive.split()[0]}."
    )
    rewritten(kernel("", directives=directive), "k", SCALARS)


def test_a_function_that_the_entry_reaches():
    front = ".func inner() { .reg .b32 %r; mov.u32 %r, %clusterid.x; ret; }\n"
    outer = ".func outer() { call inner; ret; }\n"
    reason = refusal(kernel("call outer;", front + outer), "k", BATCH)
    assert reason.startswith("inner reads %clusterid.x, which counts")
    rewritten(kernel("", front + outer), "k", BATCH)


def test_a_mangled_function_is_named_as_in_the_source():
    source = r"""
    __device__ __noinline__ int where(float x) {
      int id; asm volatile("mov.u32 %0, %%clusterid.x;" : "=r"(id)); return id + (int)x;
    }
    extern "C" __global__ void k(float* out) { out[0] = where(out[1]); }"""
    reason = refusal(compiled(source), "k", BATCH)
    assert reason.startswith("where(float) reads %clusterid.x")
    assert "k.cu:3" in reason


# The PTX, and the reason.
TEXTS = {
    "no entry": (f"{HEADER}.func k() {{ ret; }}", "the PTX has no such entry."),
    "another entry": (
        f"{HEADER}.entry other() {{ ret; }}",
        "the PTX has no such entry.",
    ),
    "no PTX": ("int main() {}", "the PTX has no such entry."),
    "cut off": (
        kernel("")[:-4],
        "the PTX cannot be read: the PTX ends where a } is missing.",
    ),
    "cut in a statement": (
        kernel("bra X")[:-7],
        "the PTX cannot be read: the PTX ends where a } is missing.",
    ),
    "two variables at once": (
        kernel("", ".global .u32 a, b;"),
        "the PTX cannot be read: `.global .u32 a, b` declares several names.",
    ),
    "a name with a dot": (
        kernel("call a.b;", ".func a.b() { ret; }\n"),
        "the PTX cannot be read: function a is declared in an unusual way.",
    ),
    "no line": (
        kernel(".loc 1"),
        "the PTX cannot be read: it is not what a compiler writes.",
    ),
    "an unknown directive": (
        kernel(".bogus 3;"),
        "the PTX cannot be read: PTX directive `.bogus 3` is not supported.",
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_text(name):
    text, reason = TEXTS[name]
    assert refusal(text, "k", BATCH) == reason


def test_a_parameter_that_is_not_there():
    reason = refusal(kernel(""), "k", Adaptation(1, (0, 4)))
    assert reason == "there is no parameter 4, only 4 of them."


@pytest.mark.parametrize("declared", [".u32 q", ".f64 q", ".align 8 .b8 q[8]"])
def test_a_parameter_that_is_no_pointer(declared):
    text = kernel("").replace(".u64 q", declared)
    reason = refusal(text, "k", Adaptation(1, (0, 1)))
    assert reason == "parameter q is no pointer of 64 bits."


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"batched": (1,)}, r"batched=\(1,\): a batch axis is needed"),
        ({"axes": 1, "batched": (2, 1)}, r"batched=\(2, 1\): ascending order"),
        ({"dynamic": (1, 1)}, r"dynamic=\(1, 1\): ascending order"),
        ({"grid_z": 0}, "axes=0, grid_z=0: 0 and 1 or more are needed"),
        ({"axes": -1}, "axes=-1, grid_z=1: 0 and 1 or more are needed"),
    ],
)
def test_an_adaptation_that_makes_no_sense(fields, message):
    with pytest.raises(ValidationError, match=message):
        Adaptation(**fields)


def test_damaged_text_is_refused_or_rewritten():
    text = kernel("mov.b64 %d1, s; ld.param.u32 %r1, [%d1+4]; mov.u32 %r2, %ctaid.z;")
    adaptation = Adaptation(1, (0, 2), (2,), grid_z=2)
    rng = random.Random(0)
    outcomes = set()
    for _ in range(600):
        place = rng.randrange(len(HEADER), len(text))
        inserted = rng.choice([*'{}()[],;.:%@!"/*0a \n', ".param", ".loc", "ld.param"])
        damaged = text[:place] + inserted + text[place + rng.randrange(12) :]
        outcomes.add(type(rewrite(damaged, "k", adaptation)).__name__)
        assert 1 <= widest_access(damaged, "k") <= 128
    assert outcomes == {"Refusal", "Rewritten"}
