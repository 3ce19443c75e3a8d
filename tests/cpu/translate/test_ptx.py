"""The PTX parser and the control-flow graph, without LLVM."""

from __future__ import annotations

import pytest

from jax_rawcuda import UnsupportedError
from jax_rawcuda.cpu.analysis import graph as cfg
from jax_rawcuda.cpu.analysis import liveness
from jax_rawcuda.cpu.analysis import uniformity as uniform
from jax_rawcuda.cpu.ptx import module as ptx
from jax_rawcuda.cpu.ptx.instruction import Instruction, Label
from jax_rawcuda.cpu.ptx.operand_parser import parse_operand
from jax_rawcuda.cpu.ptx.operands import (
    Arguments,
    Float,
    Integer,
    Memory,
    Negative,
    Not,
    Pair,
    Register,
    Sink,
    Special,
    Symbol,
    Tensor,
    Vector,
    leaves,
    registers,
)
from jax_rawcuda.cpu.ptx.uses import uses_and_definitions
from jax_rawcuda.cpu.transforms import cuts, inline
from jax_rawcuda.cpu.translate import translate

HEADER = ".version 8.0\n.target sm_90\n.address_size 64\n"


def kernel(body: str, parameters: str = ".param .u64 p", name: str = "k") -> ptx.Module:
    return ptx.parse(f"{HEADER}.visible .entry {name}({parameters})\n{{\n{body}\n}}\n")


def statements(body: str) -> list:
    return kernel(body).functions["k"].body.statements


def graph_of(body: str) -> cfg.Graph:
    parsed = kernel(body).functions["k"].body
    return cfg.build(parsed.statements, parsed.targets)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("%r1", Register("%r1")),
        ("12", Integer(12)),
        ("-12", Integer(-12)),
        ("0x1F", Integer(31)),
        ("0b101", Integer(5)),
        ("017", Integer(15)),
        ("4294967295U", Integer(0xFFFFFFFF)),
        ("0f3F800000", Float(0x3F800000, 32)),
        ("0d3FF0000000000000", Float(0x3FF0000000000000, 64)),
        ("%tid.x", Special("%tid.x")),
        ("WARP_SZ", Special("WARP_SZ")),
        ("[%r1]", Memory(Register("%r1"))),
        ("[%r1+8]", Memory(Register("%r1"), 8)),
        ("[%r1+-4]", Memory(Register("%r1"), -4)),
        ("[table+16]", Memory(Symbol("table"), 16)),
        ("table+16", Symbol("table", 16)),
        ("{%r1, _, 3}", Vector((Register("%r1"), Sink(), Integer(3)))),
        ("(a, b)", Arguments((Symbol("a"), Symbol("b")))),
        ("()", Arguments(())),
        ("!%r1", Not(Register("%r1"))),
        ("-%r1", Negative(Register("%r1"))),
        ("%r1|%p1", Pair(Register("%r1"), Register("%p1"))),
        (
            "[%r1, {%p1}]",
            Tensor((Register("%r1"), Vector((Register("%p1"),)))),
        ),
    ],
)
def test_operands_are_read(text, expected):
    names = {name: Register(name) for name in ("%r1", "%p1")}
    assert parse_operand(text, names.get) == expected


def test_leaves_and_registers():
    operand = Pair(Memory(Register("%a"), 4), Vector((Not(Register("%b")), Integer(1))))
    assert list(leaves(operand)) == [Register("%a"), Register("%b"), Integer(1)]
    assert list(registers(operand)) == ["%a", "%b"]


def test_instruction_parts():
    inst = statements(
        ".reg .pred %p<2>; .reg .f32 %f<3>; .reg .b64 %rd<2>;"
        "@!%p1 ld.global.v2.f32 {%f1,%f2}, [%rd1+8];"
    )[0]
    assert inst.opcode == "ld"
    assert inst.modifiers == ("global", "v2", "f32")
    assert inst.types == ("f32",)
    assert (inst.predicate, inst.negated) == ("%p1", True)
    assert inst.name == "ld.global.v2.f32"


def test_modifier_with_colons_stays_whole():
    (inst,) = statements(".reg .b32 %r<2>; ld.shared::cta.u32 %r1, [%r1];")
    assert inst.modifiers == ("shared::cta", "u32")


@pytest.mark.parametrize("blank", ["\t", " ", ""])
def test_register_declaration_spacing(blank):
    body = kernel(f".reg{blank}.b32 %r<3>; mov.u32 %r1, %r2;").functions["k"].body
    assert body.registers == {"%r0": "b32", "%r1": "b32", "%r2": "b32"}


def test_scopes_give_unique_names():
    body = (
        kernel(
            """
            { .reg .pred p; loop: setp.eq.u32 p, 1, 2; @p bra loop; }
            { .reg .pred p; loop: setp.eq.u32 p, 3, 4; @p bra loop; bra out; }
            out: ret;
            """
        )
        .functions["k"]
        .body
    )
    labels = [s.name for s in body.statements if isinstance(s, Label)]
    assert labels == ["loop@1", "loop@2", "out"]
    targets = [
        s.operands[0].name
        for s in body.statements
        if isinstance(s, Instruction) and s.opcode == "bra"
    ]
    assert targets == ["loop@1", "loop@2", "out"]
    assert set(body.registers) == {"p@1", "p@2"}


def test_line_table_and_inlining():
    module = ptx.parse(
        HEADER
        + ".visible .entry k()\n{\n.loc 1 12 3\nret;\n"
        + ".loc 2 4 1, function_name $L__info_string0, inlined_at 1 20 5\nexit;\n}\n"
        + '.file 1 "a.cu"\n.file 2 "b.h"\n'
        + ".section .debug_str\n{\n$L__info_string0:\n.b8 102,0\n}\n"
    )
    first, second = module.functions["k"].body.statements
    assert str(first.location) == "a.cu:12"
    assert str(second.location) == "b.h:4 (inlined at a.cu:20)"
    assert str(first) == "`ret` at a.cu:12"


def test_variable_declarations():
    module = ptx.parse(
        HEADER
        + ".const .align 16 .b8 table[3] = {1, 2, 3};\n"
        + ".global .align 8 .u64 pointers[2] = {f, table+4};\n"
        + ".global .attribute(.managed) .f32 x = 0f3F800000;\n"
        + ".global .v4 .f32 q[2];\n"
        + ".extern .shared .align 16 .b8 dynamic[];\n"
        + ".global .u32 sized_by_values[] = {1, 2, 3, 4};\n"
    )
    table = module.variables["table"]
    assert (table.space, table.size, table.align) == ("const", 3, 16)
    assert module.variables["pointers"].initializer == "{f, table+4}"
    assert module.variables["x"].size == 4
    assert (module.variables["q"].size, module.variables["q"].align) == (32, 16)
    assert (module.variables["dynamic"].size, module.variables["dynamic"].extern) == (
        0,
        True,
    )
    assert module.variables["sized_by_values"].size == 16


def test_what_may_hide_the_end_of_a_declaration():
    module = ptx.parse(
        "/* no { end */\n"
        + HEADER
        + ".global .u32 a; // not the end; nor this {\n"
        + ".visible .entry k(.param .u32 n /* one ) */) // { two\n"
        + '{ .pragma "a } b"; // }\n/* } */ // 3/*.cu\nret; }\n'
        + ".section .debug_str { .b8 1, 2 }\n"
        + ".global .u32 b = 3;\n"
    )
    assert list(module.variables) == ["a", "b"]
    (k,) = module.functions.values()
    assert [p.name for p in k.parameters] == ["n"]
    assert [s.opcode for s in k.body.statements] == ["ret"]


def test_variables_of_unknown_types_are_refused_where_they_are_used():
    declared = ".global .texref picture;\n"
    entry = ".visible .entry k() {{ .reg .b64 %rd<2>; {} ret; }}"
    (k,) = ptx.parse(HEADER + declared + entry.format("")).functions.values()
    assert k.name == "k"
    translate(HEADER + declared + entry.format(""), "k")
    with pytest.raises(UnsupportedError, match="symbol picture is not available"):
        translate(HEADER + declared + entry.format("mov.u64 %rd1, picture;"), "k")


@pytest.mark.parametrize(
    ("declaration", "match"),
    [
        (".entry k(.param .u64 p { ret; }", "the PTX ends where a \\) is missing"),
        (".entry k(.param .align .u64 p) {}", "declaration `.* p` is not supported"),
        (".func f(.param .b8 p[x]) ;", r"declaration `.* p\[x\]` is not supported"),
        (".entry k(.param .what p) {}", r"`: .what is not supported"),
        (".entry k(.param p) {}", "has no known type"),
        (".entry {}", "PTX declaration `.entry` is not supported"),
        (".entry k() {", "the PTX ends where a } is missing"),
    ],
)
def test_heads_that_are_damaged(declaration, match):
    with pytest.raises(UnsupportedError, match=match):
        ptx.parse(HEADER + declaration)


def test_damaged_variables_and_aliases_do_no_harm():
    damaged = ".global .align .u32 a; .global .b8 b[x]; .alias c, d; .alias e;\n"
    module = ptx.parse(HEADER + damaged + ".func f() { ret; }\n.alias g, f;")
    assert not module.variables
    assert module.functions["g"] is module.functions["f"]


def test_function_heads():
    module = ptx.parse(
        HEADER
        + ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"
        + ".weak .func (.param .align 4 .b8 r[12]) f(.param .b32 x) { ret; }\n"
        + ".visible .entry k(.param .u64 .ptr .global .align 4 p, .param .u32 n)\n"
        + ".maxntid 128, 2, 1\n.minnctapersm 1\n{ ret; }\n"
    )
    assert module.functions["vprintf"].extern
    assert module.functions["f"].results[0].size == 12
    k = module.functions["k"]
    assert k.entry
    assert [p.name for p in k.parameters] == ["p", "n"]
    assert k.directives["maxntid"] == (128, 2, 1)


def test_only_reachable_bodies_are_parsed():
    module = ptx.parse(
        HEADER
        + ".func unused() { this is not PTX; }\n"
        + ".func h() { ret; }\n"
        + ".global .u64 table[1] = {h};\n"
        + ".func g() { ret; }\n"
        + ".visible .entry k() { .reg .b64 %rd<2>; mov.u64 %rd1, table; call g, (); }\n"
    )
    assert sorted(module.reachable("k")) == ["g", "h", "k"]


def test_call_is_taken_apart():
    (inst,) = statements("call.uni (retval0), f, (param0, param1);")
    call = inline.parse_call(inst)
    assert call.target == Symbol("f")
    assert (call.results, call.parameters) == (("retval0",), ("param0", "param1"))


def test_missing_label_is_refused():
    with pytest.raises(UnsupportedError, match="no label nowhere"):
        statements("bra nowhere;")


LOOP = """
    .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<5>; .reg .f32 %f<3>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %ctaid.x;
    mad.lo.s32 %r4, %r3, %r2, %r1;
    mov.u32 %r5, %nctaid.x; mul.lo.s32 %r6, %r5, %r2;
loop:
    mul.wide.s32 %rd2, %r4, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.f32 %f1, [%rd3];
    add.s32 %r4, %r4, {step};
    setp.lt.s32 %p1, %r4, 1000;
    @%p1 bra loop;
    ret;
"""


def test_blocks_of_a_guarded_branch():
    graph = graph_of(LOOP.replace("{step}", "%r6"))
    assert len(graph.blocks) == 3
    entry, loop, _ = graph.blocks.values()
    assert entry.successors() == ("loop",)
    assert loop.successors()[0] == "loop"


def test_unreachable_code_is_dropped():
    graph = graph_of("bra end; mid: ret; end: ret;")
    assert "mid" not in graph.blocks


def test_liveness():
    graph = graph_of(LOOP.replace("{step}", "%r6"))
    live = liveness.live_in(graph, graph.blocks)
    assert live["loop"] == {"%r4", "%r6", "%rd1"}
    assert live[cfg.ENTRY] == frozenset()


def test_guarded_write_keeps_the_old_value_alive():
    inst = statements(".reg .pred %p<2>; .reg .b32 %r<3>; @%p1 mov.u32 %r1, 3;")[0]
    uses, definitions = uses_and_definitions(inst)
    assert "%r1" in uses
    assert definitions == ["%r1"]


def test_strides():
    graph = graph_of(LOOP.replace("{step}", "%r6"))
    known = uniform.strides(graph)
    assert known["%r6"] == 0
    assert known["%r4"] == 1
    assert known["%rd3"] == 4
    assert known["%p1"] == uniform.IRREGULAR
    assert known["%f1"] == uniform.DATA


@pytest.mark.parametrize(("step", "cut"), [("%r6", True), ("256", True), ("1", False)])
def test_loops_are_cut_when_threads_stay_in_step(step, cut):
    graph = graph_of(LOOP.replace("{step}", step))
    before = len(graph.blocks)
    cuts.cut_loops(graph)
    assert (len(graph.blocks) > before) == cut


def test_strided_loops_stay_whole():
    graph = graph_of(
        LOOP.replace("{step}", "%r6").replace("%rd2, %r4, 4", "%rd2, %r4, 400")
    )
    before = len(graph.blocks)
    cuts.cut_loops(graph)
    assert len(graph.blocks) == before


def test_spin_loop_yields():
    graph = graph_of(
        """
        .reg .pred %p<2>; .reg .b32 %r<3>; .reg .b64 %rd<2>;
        wait: ld.volatile.global.u32 %r1, [%rd1];
        setp.eq.s32 %p1, %r1, 0; @%p1 bra wait; ret;
        """
    )
    cuts.cut_spin_loops(graph)
    assert any(isinstance(b.terminator, cfg.Suspend) for b in graph.blocks.values())


COMMENTS = """
    .reg .b32 %r<3>;  // it's "quoted; text" { here
    mov.u32 %r0, 1;   // starts /* no block
    mov.u32 %r1, /* "a; b" // c
    */ 2;
    .pragma "no // comment /* here";  // but "here"
    add.u32 %r2, %r0, %r1;
"""


def test_comments_may_hold_quotes_and_other_comments():
    body = kernel(COMMENTS).functions["k"].body
    assert [inst.line for inst in body.statements if isinstance(inst, Instruction)] == [
        "mov.u32 %r0, 1",
        "mov.u32 %r1, 2",
        "add.u32 %r2, %r0, %r1",
    ]
