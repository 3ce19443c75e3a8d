"""PTX cut into regions, before anything is compiled, and what is refused there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.ptx_module import HEADER, module

from jax_rawcuda import UnsupportedError
from jax_rawcuda.cpu import translate as translation
from jax_rawcuda.cpu.translate import translate

# Cuts

BARRIER_CALLEE = """
    .func (.param .b32 r) wait(.param .b32 x) {
      .reg .b32 %r<3>; ld.param.u32 %r1, [x]; bar.sync 0;
      st.param.b32 [r], %r1; ret; }
"""
CALL_WAIT = """
    { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1;
    call.uni (b), wait, (a); ld.param.b32 %r2, [b]; }
    st.global.u32 [%rd3], %r2;
"""


def test_barrier_cuts_the_kernel():
    translation = translate(
        module(
            "ld.global.u32 %r2, [%rd3];\n.loc 1 12 1\nbar.sync 0;\n"
            "st.global.u32 [%rd3], %r2;"
        ),
        "k",
    )
    assert translation.regions == ("region.0", "region.1")
    assert translation.syncs[0] == (0,) * 8
    assert translation.syncs[1][:3] == (1, 0, 1)
    assert translation.sync_texts == ("", "demo.cu:12: bar.sync 0")
    assert translation.slot_bytes == 4  # %r2; the address %rd3 is computed again


def test_functions_with_barriers_are_inlined():
    translation = translate(module(CALL_WAIT, BARRIER_CALLEE), "k")
    assert len(translation.regions) == 2
    assert "fn.wait" not in translation.ir
    assert translation.frame_bytes > 0


def test_recursion_with_a_barrier_is_refused():
    callee = BARRIER_CALLEE.replace(
        "bar.sync 0;",
        "bar.sync 0; { .param .b32 a; .param .b32 b; call.uni (b), wait, (a); }",
    )
    with pytest.raises(UnsupportedError, match=r"call.*recursive .*wait.* barrier"):
        translate(module(CALL_WAIT, callee), "k")


def test_launch_bounds():
    translation = translate(module("", directives=".maxntid 32, 4, 1"), "k")
    assert translation.max_threads == 128


def test_parameters_are_laid_out():
    parameters = ".param .u8 a, .param .align 8 .b8 s[12], .param .u16 b"
    translation = translate(f"{HEADER}.entry k({parameters}) {{ ret; }}", "k")
    assert translation.params == ((0, 1), (8, 12), (20, 2))
    assert translation.param_bytes == 22


# Faults and refusals


def test_trap_ends_the_thread_and_names_its_line():
    translation = translate(module(".loc 1 7 1\ntrap;"), "k")
    assert translation.sites == ("demo.cu:7: trap",)
    assert "jrc_trap" in translation.ir


def test_callers_of_a_trapping_function_test_for_faults():
    callee = ".func bad() { trap; exit; }\n"
    outer = ".func outer() { call bad, (); ret; }\n"
    translation = translate(module("call outer, ();", callee + outer), "k")
    assert translation.ir.count("load volatile i32") == 2
    quiet = translate(module("call outer, ();", ".func outer() { ret; }\n"), "k")
    assert "load volatile i32" not in quiet.ir


@pytest.mark.parametrize(
    ("body", "match"),
    [
        (
            ".loc 1 12 3\ntex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%rd1, {%f5,%f6}];",
            r"instruction `tex\.2d.*` at demo\.cu:12: ",
        ),
        ("frobnicate.u32 %r1, %r2;", r"instruction `frobnicate.* not available"),
        ("add.s32.frob %r1, %r2, %r3;", r"instruction `add\.s32\.frob"),
        ("mov.u32 %r2, %nosuch.x;", r"instruction `mov.*%nosuch"),
        ("mov.u64 %rd4, missing;", r"instruction `mov.*missing"),
    ],
)
def test_unsupported_instructions_are_named(body, match):
    with pytest.raises(UnsupportedError, match=match):
        translate(module(body), "k")


def test_messages_show_an_instruction_on_one_line():
    with pytest.raises(UnsupportedError, match=r"`frobnicate\.u32 %r1, %r2`"):
        translate(module("frobnicate.u32 \t%r1,\n\t%r2;"), "k")


# The README's table

FUNCTION = """
    .func (.param .b32 r) twice(.param .b32 x) {
      .reg .b32 %r<3>; ld.param.u32 %r1, [x]; add.u32 %r2, %r1, %r1;
      st.param.b32 [r], %r2; ret; }
"""


def test_the_readme_tells_the_passes_in_their_order(monkeypatch):
    package = Path(translation.__file__).parent
    table = re.compile(r"^\| (`.*?) \| (`.*?) \|", re.MULTILINE)
    told, called = [], []
    for passes, files in table.findall((package / "README.md").read_text()):
        told += re.findall(r"`(\w+)`", passes)
        for file in re.findall(r"`(\S+?)`", files):
            assert (package / file).is_file(), file

    def recorded(name, function):
        def call(*arguments, **named):
            called.append(name)
            return function(*arguments, **named)

        return call

    for name in told:
        places = [translation, translation.cuts, translation.polls, translation.stack]
        (place,) = (place for place in places if hasattr(place, name))
        monkeypatch.setattr(place, name, recorded(name, getattr(place, name)))
    body = "bar.sync 0;\n" + CALL_WAIT.replace("wait", "twice")
    translation.translate(module(body, FUNCTION), "k", checked=True)
    assert list(dict.fromkeys(called)) == told
