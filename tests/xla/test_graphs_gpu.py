"""What XLA records in a CUDA graph, read off the thunks that it dumps."""

from __future__ import annotations

import pytest
from support.process import run_python

pytestmark = pytest.mark.gpu

# Programs of one custom call, so that a command buffer can hold nothing else. They run
# in a process of their own: XLA reads its flags once.
PROGRAM = """
    import jax, jax.numpy as jnp, numpy as np
    import jax_rawcuda as rc

    scale = rc.kernel('''
    __global__ void scale(const float* x, float* out, float a, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) out[i] = a * x[i];
    }''', shapes="n -> n", threads="n")

    @rc.op
    def commands(s, x, *, wait=False):
        half, out = (s.alloc_output(x.shape, x.dtype, fill=0) for _ in range(2))
        s.copy_bytes(half, x, x.byte_len)
        if wait:
            s.synchronize()
        config = rc.LaunchConfig.flat(x.size, 256)
        s.launch(scale.module.function("scale"), config, half, out, 2.0, x.size)
        return out

    @rc.live_op(out=lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype))
    def live(s, x, out):
        config = rc.LaunchConfig.flat(x.size, 256)
        s.launch(scale.module.function("scale"), config, x, out, 2.0, x.size)

    two = jnp.float32(2)
    calls = {
        "one_kernel": lambda x: scale(x, 2.0),
        "many_commands": commands,
        "mapped": jax.vmap(lambda x: scale(x, 2.0)),
        "scalar_in_memory": lambda x: scale(x, two),
        "waiting": lambda x: commands(x, wait=True),
        "at_run_time": live,
    }
    x = jnp.arange(1000, dtype=jnp.float32).reshape(4, 250)
    for name, call in calls.items():
        argument = x if name == "mapped" else x.reshape(-1)
        program = lambda x, call=call: call(x)
        program.__name__ = name
        program = jax.jit(program)
        for i in range(4):  # the first runs are not recorded
            np.testing.assert_array_equal(program(argument + i), 2 * (argument + i))
    print("right")
"""
RECORDED = {
    "one_kernel": True,
    "many_commands": True,
    "mapped": True,
    "scalar_in_memory": True,
    "waiting": False,
    "at_run_time": False,
}


@pytest.fixture(scope="module")
def thunks(tmp_path_factory):
    """Texts of the thunk lists that XLA dumps, by program."""
    folder = tmp_path_factory.mktemp("dump")
    flags = [
        "--xla_gpu_enable_command_buffer=CUSTOM_CALL",
        "--xla_gpu_graph_min_graph_size=1",
        f"--xla_dump_to={folder}",
    ]
    assert run_python(PROGRAM, XLA_FLAGS=" ".join(flags)).stdout == "right\n"
    files = list(folder.glob("*thunk*"))
    return {
        name: "".join(p.read_text() for p in files if f"jit_{name}." in p.name)
        for name in RECORDED
    }


@pytest.mark.parametrize(("program", "recorded"), RECORDED.items())
def test_recorded_in_a_graph(thunks, program, recorded):
    text = thunks[program].replace("_", "").lower()
    assert "customcall" in text, f"no thunk list with a custom call: {thunks}"
    assert ("commandbuffer" in text) == recorded, thunks[program]
