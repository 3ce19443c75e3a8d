"""Operands that ptxas refuses: constants out of range, registers of a wrong width.

`REFUSED` and `TAKEN` are what ptxas of CUDA 13.0 said for sm_90a.
"""

from __future__ import annotations

import shutil

import jax
import numpy as np
import pytest
from support.launching import launch
from support.process import run_command
from support.ptx_module import LANES, module, run

import jax_rawcuda as rc
from jax_rawcuda.cpu.translate import translate

BULK = "bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
COPY = "cp.async.{} [%r1], [%rd1], {};"
WIDE = "is a register of {} bits; a register of {} bits is needed, in inline PTX the"
R, L, H = 'constraint "r" or "f"', 'constraint "l" or "d"', 'constraint "h"'
REFUSED = {
    "bar.sync 16;": "barrier number 16; 0 to 15 is allowed",
    "bar.sync -1;": "barrier number -1; 0 to 15 is allowed",
    "barrier.cta.sync 99, 32;": "barrier number 99; 0 to 15 is allowed",
    "bar.red.popc.u32 %r5, 17, %p1;": "barrier number 17; 0 to 15 is allowed",
    "bar.sync 1, 33;": "thread count 33; a multiple of 32 is allowed",
    "bar.red.and.pred %p2, 3, 40, %p1;": "thread count 40; a multiple of 32 is allowed",
    "bar.arrive 1;": "thread count 0; a multiple of 32 from 32 on is allowed",
    "barrier.cta.arrive 1, 48;": "thread count 48; a multiple of 32 from 32 on is",
    COPY.format("ca.shared.global", 5): "size 5; 4, 8 or 16 is allowed",
    COPY.format("cg.shared.global", 8): "size 8; 16 is allowed",
    COPY.format("ca.shared.global", "%r2"): "the size is a register; a constant is",
    COPY.format("cg.shared.global", "16, 17"): "size of the source 17; 0 to 16 is",
    "cp.async.wait_group %r1;": "the number of groups is a register; a constant is",
    "cp.async.bulk.wait_group.read %r1;": "the number of groups is a register",
    COPY.format(BULK, "24, [%r1]"):
        "size 24; a multiple of 16 is allowed",
    "cp.async.bulk.prefetch.L2.global [%rd1], 8;": "size 8; a multiple of 16 is",
    "mbarrier.arrive.shared.b64 %rd5, [%r1], 0;": "number of arrivals 0; 1 or more is",
    "mbarrier.test_wait.parity.shared.b64 %p2, [%r1], 2;": "phase parity 2; 0 or 1 is",
    "bfe.u32 %r5, %r1, 256, 4;": "first bit 256; 0 to 255 is allowed",
    "bfi.b32 %r5, %r1, %r2, 3, -1;": "number of bits -1; 0 to 255 is allowed",
    "pmevent 16;": "event 16; 0 to 15 is allowed",
    "pmevent.mask 65536;": "event mask 65536; 0 to 65535 is allowed",
    "pmevent %r1;": "the event is a register; a constant is needed",
    "setmaxnreg.dec.sync.aligned.u32 16;":
        "number of registers 16; a multiple of 8 from 24 to 256 is allowed",
    "setmaxnreg.inc.sync.aligned.u32 100;": "number of registers 100; a multiple of 8",
    "discard.global.L2 [%rd1], 64;": "size 64; 128 is allowed",
    "applypriority.global.L2::evict_normal [%rd1], 32;": "size 32; 128 is allowed",
    "ld.global.v2.f32 {%f1, %f2, %f3}, [%rd1];": "3 values; .v2 needs 2",
    "ld.global.v4.f32 {%f1, %f2}, [%rd1];": "2 values; .v4 needs 4",
    "ld.global.f32 {%f1, %f2}, [%rd1];": "2 values; give .v2 or .v4",
    "st.global.v2.u32 [%rd1], %r1;": "1 value; .v2 needs 2",
    "st.global.v8.u64 [%rd1], {%rd1, %rd1, %rd1, %rd1, %rd1, %rd1, %rd1, %rd1};":
        "64 bytes at once; at most 32 are allowed",
    "ld.global.u64 %r5, [%rd1];": f"value 1 {WIDE.format(32, 64)} {L}",
    "st.global.f32 [%rd1], 1;": "value 1 is an integer; write 1.0",
    "mov.b64 %rd5, {%r1, %r2, %r3};": "operand 2 is a vector that does not have the 64",
    "mov.b64 {%r5}, %rd1;": "operand 1 is a vector that does not have the 64 bits",
    "mov.b32 %r5, %rd1;": f"operand 2 {WIDE.format(64, 32)} {R}",
    "mov.f32 %f1, 1;": "operand 2 is an integer; write 1.0",
    "add.s32 %r5, %r1;": "2 operands; 3 are needed",
    "neg.s32 %r5, %r1, %r2;": "3 operands; 2 are needed",
    "add.s32 %rd5, %r1, %r2;": f"operand 1 {WIDE.format(64, 32)} {R}",
    "add.u64 %rd5, %rd1, %r2;": f"operand 3 {WIDE.format(32, 64)} {L}",
    "add.u16 %r5, %r1, %r2;": f"operand 1 {WIDE.format(32, 16)} {H}",
    "mul.wide.s32 %r5, %r1, %r2;": f"operand 1 {WIDE.format(32, 64)} {L}",
    "mad.wide.u32 %rd5, %r1, %r2, %r3;": f"operand 4 {WIDE.format(32, 64)} {L}",
    "shl.b64 %rd5, %rd1, %rd2;": f"operand 3 {WIDE.format(64, 32)} {R}",
    "popc.b64 %rd5, %rd1;": f"operand 1 {WIDE.format(64, 32)} {R}",
    "selp.b32 %r5, %r1, %r2, %r3;": "operand 4 is a register of 32 bits; a predicate",
    "setp.eq.u32 %r5, %r1, %r2;": "operand 1 is a register of 32 bits; a predicate is",
    "atom.global.add.u32 %r5, [%rd1], %rd2;": f"operand 3 {WIDE.format(64, 32)} {R}",
    "add.s32 %r5, %r1, 1.0;": "operand 3 is a floating-point constant; an integer is",
    "fma.rn.f32 %f1, %f2, 2, %f3;": "operand 3 is an integer; write 2.0",
    "mov.b32 %r5, 1.0;": "operand 2 is a floating-point constant; an integer is",
    "mov.b64 %rd5, 0f3F800000;": "operand 2 is a floating-point constant; an integer",
    ".reg .b16 %h<3>; add.f16 %h1, %h2, 1.0;": "operand 3 is a constant; a register",
}  # fmt: skip
TAKEN = [
    "bar.sync 15;",
    "bar.sync 1, 64;",
    "bar.sync 1, 0;",
    "bar.sync %r1, %r2;",
    "barrier.cta.arrive 3, 32;",
    "bar.red.popc.u32 %r5, 15, 1024, %p1;",
    COPY.format("ca.shared.global", 4),
    COPY.format("cg.shared.global", "16, 7"),
    "cp.async.wait_group 300;",
    "cp.async.bulk.prefetch.L2.global [%rd1], 32;",
    "mbarrier.arrive.shared.b64 %rd5, [%r1], 7;",
    "mbarrier.test_wait.parity.shared.b64 %p2, [%r1], 1;",
    "bfe.u32 %r5, %r1, 255, 33;",
    "pmevent 15;",
    "setmaxnreg.inc.sync.aligned.u32 240;",
    "lop3.b32 %r5, %r1, %r2, %r3, 256;",
    "prmt.b32 %r5, %r1, %r2, 0x17654;",
    "shfl.sync.idx.b32 %r5, %r1, 100, 31, -1;",
    "shl.b32 %r5, %r1, -1;",
    "shl.b32 %r5, %r1, 300;",
    "ld.global.u8 %rd5, [%rd1];",
    "ld.global.v2.b32 {%r5, %r6}, [%rd1];",
    "st.global.v2.f32 [%rd1], {%f1, 1.0};",
    "mov.b64 {_, %r5}, %rd1;",
    "mov.u32 %r5, %tid.x;",
    "mul.wide.u32 %rd5, %r1, 3;",
    "mad.lo.cc.u32 %r5, %r1, %r2, %r3;",
    "setp.lt.and.f32 %p1|%p2, %f1, 0.5, %p3;",
    "atom.global.cas.b64 %rd5, [%rd1], %rd2, 0;",
    "add.f32 %f1, %f2, 0f3F800000;",
    "add.f32 %f1, %f2, -1.5e-3;",
    "mov.b64 %rd5, 1.0;",
    "mov.b32 %r5, 0f3F800000;",
]


@pytest.mark.parametrize("body", REFUSED)
def test_what_ptxas_refuses_is_refused(body):
    with pytest.raises(rc.ValidationError) as caught:
        translate(module(f".loc 1 7 3\n{body}"), "k")
    text = str(caught.value)
    assert text.startswith("k: instruction `")
    assert f"` at demo.cu:7: {REFUSED[body]}" in text


@pytest.mark.parametrize("body", TAKEN)
def test_what_ptxas_takes_is_taken(body):
    translate(module(body), "k")


@pytest.mark.parametrize("body", [*REFUSED, *TAKEN])
def test_ptxas_agrees(body, tmp_path):
    if (ptxas := shutil.which("ptxas")) is None:
        pytest.skip("needs ptxas")
    text = module(body).replace("version 8.3", "version 8.8").replace("_90", "_90a")
    path = tmp_path / "k.ptx"
    path.write_text(text)
    command = [ptxas, "-arch=sm_90a", path, "-o", tmp_path / "k.cubin"]
    ended = run_command(*command, code=None)
    assert (ended.returncode == 0) == (body in TAKEN), ended.stderr


def test_inline_ptx_names_kernel_and_line(no_nvrtc):
    source = (
        'extern "C" __global__ void k(int* x) {\n x[0] = 1;\n asm("bar.sync 20;"); }'
    )
    with pytest.raises(rc.ValidationError) as caught:
        launch(jax.devices("cpu")[0], source, "k", out=[(1, "i4")])
    assert str(caught.value) == (
        "k: instruction `bar.sync 20` at k.cu:3: barrier number 20; 0 to 15 is allowed."
    )


def test_decimal_constants():
    found = run("""
        cvt.rn.f32.u32 %f1, %r1;
        fma.rn.f32 %f1, %f1, 0.1, -2.5e-3;
        setp.lt.f32 %p1, %f1, 3.;
        selp.f32 %f1, %f1, 1E39, %p1;
        st.global.f32 [%rd3], %f1;""").view(np.float32)  # fmt: skip
    want = (LANES * np.float64(np.float32(0.1)) - np.float32(2.5e-3)).astype(np.float32)
    np.testing.assert_array_equal(found, np.where(want < 3, want, np.inf))


@pytest.mark.parametrize(
    ("asm", "problem"),
    [
        ("bar.sync %0;", "barrier number 20"),
        ("bar.sync %0, 64;", "barrier number 20"),
        ("barrier.cta.arrive %0, 64;", "barrier number 20"),
        ("bar.sync 1, %0;", "barrier of 20 threads"),
        ("bar.arrive 1, %1;", "barrier of 0 threads"),
    ],
)
def test_registers_out_of_range(asm, problem):
    source = f"""extern "C" __global__ void k(const int* x, int* y) {{
  asm volatile("{asm}" :: "r"(x[0]), "r"(x[1]) : "memory");
  y[threadIdx.x] = 1;
}}"""
    x = np.int32([20, 0])
    with pytest.raises(Exception, match=f"k: {problem} in thread") as caught:
        launch(jax.devices("cpu")[0], source, "k", x, out=[(64, "i4")], block=64)
    allowed = "0 to 15 is allowed." if "number" in problem else "a multiple of 32 is"
    assert "block (0,0,0) at k.cu:2: bar" in str(caught.value)
    assert allowed in str(caught.value)
