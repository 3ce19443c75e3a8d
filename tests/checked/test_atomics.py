"""Checked mode: atomics at addresses that a device refuses."""

from __future__ import annotations

import jax
import numpy as np
import pytest

import jax_rawcuda as rc

WIDE = "(unsigned long long*)"
CALLS = {
    "add": (8, f"atomicAdd({WIDE}at, 1ull)"),
    "add_f64": (8, "atomicAdd((double*)at, 1.0)"),
    "add_s32": (4, "atomicAdd((int*)at, 1)"),
    "add_f32": (4, "atomicAdd((float*)at, 1.0f)"),
    "cas": (8, f"atomicCAS({WIDE}at, 1ull, 2ull)"),
    "cas_u16": (
        2,
        "atomicCAS((unsigned short*)at, (unsigned short)1, (unsigned short)2)",
    ),
    "exchange": (8, f"atomicExch({WIDE}at, 1ull)"),
    "max": (8, "atomicMax((long long*)at, 1ll)"),
}


@pytest.mark.parametrize("space", ["global", "shared"])
@pytest.mark.parametrize("name", CALLS)
def test_misaligned_atomics_are_found(name, space):
    size, call = CALLS[name]
    base = "z" if space == "global" else "tile"
    kernel = rc.kernel(
        f"""__global__ void k(int shift, int* z) {{
          __shared__ alignas(8) int tile[8];
          for (int i = 0; i < 8; i++) tile[i] = z[i];
          char* at = (char*){base} + shift;
          {call};
          z[0] = tile[0];
        }}""",
        out=jax.ShapeDtypeStruct((8,), np.int32),
        launch=rc.LaunchConfig(1, 1),
        fill=0,
    )
    match = rf"misaligned atomic update of {size} bytes at byte offset {size // 2} "
    with jax.default_device(jax.devices("cpu")[0]), rc.checking():
        jax.block_until_ready(kernel(size))
        with pytest.raises(rc.CheckError, match=match):
            kernel(size // 2)
