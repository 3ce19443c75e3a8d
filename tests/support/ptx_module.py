"""PTX modules of one kernel `k`, around a body, and what running them gives."""

from __future__ import annotations

import numpy as np
from support import ptx_runner as runner

from jax_rawcuda import cpu

HEADER = '.version 8.3\n.target sm_90\n.address_size 64\n.file 1 "demo.cu"\n'
INDEX = """
    .reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .f32 %f<9>;
    ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;
"""


def module(body: str, before: str = "", directives: str = "") -> str:
    return (
        f"{HEADER}{before}.visible .entry k(.param .u64 p) {directives}\n"
        f"{{{INDEX}{body}\nret;\n}}\n"
    )


def run(body: str, before: str = "", threads: int = 64, shared: int = 0) -> np.ndarray:
    out = np.zeros(threads, np.int32)
    kernel = cpu.load_kernel(module(body, before), "k")
    runner.launch(kernel, [out], threads, shared)
    return out


LANES = np.arange(64, dtype=np.int32)
