"""Runs the body of a kernel over the elements of arrays, on the CPU without JAX."""

from __future__ import annotations

from support.cpu_runner import run

BLOCK = 256
CTYPES = {
    "float32": "float",
    "float64": "double",
    "int32": "int",
    "uint32": "unsigned int",
    "int64": "long long",
    "uint64": "unsigned long long",
    "uint16": "unsigned short",
    "uint8": "unsigned char",
}


def elementwise(body, *arrays, includes=()):
    """Runs `body` for every index `i` of the first array; the arrays are p0, p1, ..."""
    parameters = ", ".join(
        f"{CTYPES[a.dtype.name]}* p{k}" for k, a in enumerate(arrays)
    )
    text = "".join(f"#include <{name}>\n" for name in includes)
    # The runner puts a kernel's head in front; includes come after an empty one.
    source = f"""_unused() {{}}
{text}extern "C" __global__ void k({parameters}) {{
  int i = blockIdx.x * {BLOCK} + threadIdx.x;
  if (i < {len(arrays[0])}) {{ {body} }}
}}"""
    grid = -(-len(arrays[0]) // BLOCK)
    return run(source, *arrays, grid=grid, block=BLOCK)
