"""PTX translated, compiled and run as one block: control flow, memory, caches."""

from __future__ import annotations

import builtins
import concurrent.futures
import dataclasses

import numpy as np
import pytest
from support import ptx_runner as runner
from support.ptx_module import LANES, module, run

from jax_rawcuda import UnsupportedError, cpu
from jax_rawcuda.cpu import jit, llvm


def test_predicates_and_branches():
    body = """
        setp.lt.u32 %p1, %r1, 10; mov.u32 %r2, 5; @%p1 mov.u32 %r2, 7;
        @!%p1 bra big; add.s32 %r2, %r2, 100;
        big: st.global.u32 [%rd3], %r2;
    """
    np.testing.assert_array_equal(run(body), np.where(LANES < 10, 107, 5))


def test_guarded_exit():
    body = "setp.ge.u32 %p1, %r1, 8; @%p1 ret; st.global.u32 [%rd3], 1;"
    np.testing.assert_array_equal(run(body), LANES < 8)


def test_branch_table():
    body = """
        and.b32 %r2, %r1, 3;
        ts: .branchtargets a, b, c, b;
        brx.idx %r2, ts;
        a: mov.u32 %r3, 10; bra end;
        b: mov.u32 %r3, 20; bra end;
        c: mov.u32 %r3, 30;
        end: st.global.u32 [%rd3], %r3;
    """
    np.testing.assert_array_equal(run(body), np.array([10, 20, 30, 20] * 16))


def test_loop_with_carry():
    body = """
        mov.u32 %r2, 0; mov.u32 %r3, 0;
        loop: setp.ge.u32 %p1, %r3, %r1; @%p1 bra end;
        add.s32 %r2, %r2, %r3; add.s32 %r3, %r3, 1; bra loop;
        end: st.global.u32 [%rd3], %r2;
    """
    np.testing.assert_array_equal(run(body), LANES * (LANES - 1) // 2)


def test_constants_with_initialisers():
    before = """
        .const .align 4 .u32 table[4] = {3, 0x10, 7};
        .global .align 8 .u64 pointer = table+4;
    """
    body = """
        ld.global.u64 %rd4, [pointer]; ld.u32 %r2, [%rd4];
        ld.const.u32 %r3, [table+8]; add.s32 %r2, %r2, %r3;
        st.global.u32 [%rd3], %r2;
    """
    np.testing.assert_array_equal(run(body, before), np.full(64, 23))


def test_local_array():
    body = """
        .local .align 8 .b8 depot[16]; .reg .b64 %SP;
        mov.u64 %SP, depot; cvta.local.u64 %SP, %SP;
        st.u32 [%SP+4], %r1; ld.local.u32 %r2, [depot+4]; st.global.u32 [%rd3], %r2;
    """
    np.testing.assert_array_equal(run(body), LANES)


def test_shared_variables_do_not_overlap():
    before = ".extern .shared .align 16 .b8 dynamic[];\n.shared .align 4 .b8 a[6];\n"
    ptx = module(
        """
        .shared .align 8 .u64 b;
        mov.u32 %r2, a; mov.u32 %r3, b; mov.u32 %r4, dynamic;
        shl.b32 %r3, %r3, 8; shl.b32 %r4, %r4, 16; or.b32 %r2, %r2, %r3;
        or.b32 %r2, %r2, %r4; st.global.u32 [%rd3], %r2;
        """,
        before,
    )
    kernel = cpu.load_kernel(ptx, "k")
    out = np.zeros(1, np.uint32)
    runner.launch(kernel, [out], 1, 64)
    a, b, dynamic = out[0] & 255, out[0] >> 8 & 255, out[0] >> 16
    assert sorted([a, b])[0] == 0
    assert b % 8 == 0
    assert dynamic % 16 == 0
    assert dynamic == kernel.shared_bytes


CALLEES = """
    .func (.param .b32 r) twice(.param .b32 x) {
      .reg .b32 %r<3>; ld.param.u32 %r1, [x]; add.s32 %r2, %r1, %r1;
      st.param.b32 [r], %r2; ret; }
    .func (.param .b32 r) sum(.param .b32 x) {
      .reg .b32 %r<9>; .reg .pred %p<2>;
      ld.param.u32 %r1, [x]; setp.eq.u32 %p1, %r1, 0; mov.u32 %r2, 0; @%p1 bra end;
      add.s32 %r3, %r1, -1;
      { .param .b32 a; .param .b32 b; st.param.b32 [a], %r3;
        call.uni (b), sum, (a); ld.param.b32 %r4, [b]; }
      add.s32 %r2, %r4, %r1;
      end: st.param.b32 [r], %r2; ret; }
    .global .u64 table[2] = {twice, sum};
"""


@pytest.mark.parametrize(
    ("name", "expected"), [("twice", 2 * LANES), ("sum", LANES * (LANES + 1) // 2)]
)
def test_direct_and_recursive_calls(name, expected):
    body = f"""
        {{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r1;
        call.uni (b), {name}, (a); ld.param.b32 %r2, [b]; }}
        st.global.u32 [%rd3], %r2;
    """
    np.testing.assert_array_equal(run(body, CALLEES), expected)


def test_indirect_call():
    body = """
        and.b32 %r3, %r1, 1; mul.wide.u32 %rd4, %r3, 8; mov.u64 %rd5, table;
        add.s64 %rd5, %rd5, %rd4; ld.global.u64 %rd6, [%rd5];
        { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1;
        proto: .callprototype (.param .b32 _) _ (.param .b32 _);
        call (b), %rd6, (a), proto; ld.param.b32 %r2, [b]; }
        st.global.u32 [%rd3], %r2;
    """
    expected = np.where(LANES % 2, LANES * (LANES + 1) // 2, 2 * LANES)
    np.testing.assert_array_equal(run(body, CALLEES), expected)


def test_multiplication_and_addition_stay_apart():
    # Fused, the result would be the rounding error of the product.
    body = """
        mov.f32 %f1, 0f3F800001; mul.f32 %f2, %f1, %f1; neg.f32 %f3, %f2;
        mul.f32 %f4, %f1, %f1; add.f32 %f5, %f4, %f3; st.global.f32 [%rd3], %f5;
    """
    np.testing.assert_array_equal(run(body), np.zeros(64))


def test_denormals_are_kept():
    body = "mov.f32 %f1, 0f00800000; mul.f32 %f2, %f1, 0f3F000000;\n"
    body += "st.global.f32 [%rd3], %f2;"
    np.testing.assert_array_equal(run(body), np.full(64, 0x00400000))


def test_unknown_kernel_lists_the_kernels():
    with pytest.raises(UnsupportedError, match=r"nope: .*It has: k\."):
        cpu.load_kernel(module(""), "nope")


def test_unknown_host_function_is_named(monkeypatch):
    body = "trap; // unknown host function"
    cpu.load_kernel(module("// makes the toolchain"), "k")
    monkeypatch.delitem(jit._toolchain._symbols, "jrc_trap")
    with pytest.raises(UnsupportedError, match=r"k .* the host has no jrc_trap"):
        cpu.load_kernel(module(body), "k")


def test_missing_llvmlite_says_what_to_install(monkeypatch):
    imported = builtins.__import__

    def refuse(name, *rest):
        if name.startswith("llvmlite"):
            raise ImportError(name)
        return imported(name, *rest)

    monkeypatch.setattr(jit, "_toolchain", None)
    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(UnsupportedError, match=r"pip install 'jax-rawcuda\[cpu\]'"):
        cpu.load_kernel(module("// without llvmlite"), "k")


# Caches


def test_same_text_is_loaded_once_from_all_threads():
    ptx = module("// once")
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        kernels = list(pool.map(lambda _: cpu.load_kernel(ptx, "k"), range(16)))
    assert all(kernel is kernels[0] for kernel in kernels)


def test_host_kernel_is_a_value():
    kernel = cpu.load_kernel(module("// value"), "k")
    with pytest.raises(dataclasses.FrozenInstanceError):
        kernel.n_in = 3
    assert len(kernel.regions) == len(kernel.syncs) == len(kernel.sync_texts) == 1


def test_object_code_comes_from_the_disk(monkeypatch, tmp_path):
    monkeypatch.setenv("JAX_RAWCUDA_CACHE_DIR", str(tmp_path))
    ptx = module("st.global.u32 [%rd3], 77;")
    cpu.load_kernel(ptx, "k")
    assert any(path.is_file() for path in tmp_path.rglob("*"))
    monkeypatch.setattr(jit, "_kernels", {})
    monkeypatch.setattr(llvm.Toolchain, "compile", None)
    out = np.zeros(4, np.int32)
    runner.launch(cpu.load_kernel(ptx, "k"), [out], 4)
    np.testing.assert_array_equal(out, 77)
