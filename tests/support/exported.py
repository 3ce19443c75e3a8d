"""Exported programs, called in processes that never saw their kernels."""

from __future__ import annotations

import numpy as np
from support.process import run_python

CALL = """
    import pathlib, sys
    import jax, numpy as np
    import jax_rawcuda as rc

    rc.register()
    folder, platform = pathlib.Path(sys.argv[1]), sys.argv[2]
    program = bytearray((folder / "program").read_bytes())
    x = jax.device_put(np.load(folder / "x.npy"), jax.devices(platform)[0])
    np.save(folder / "y.npy", jax.export.deserialize(program).call(x))
"""


def call_elsewhere(exported, x, folder, platform="cpu"):
    """Returns what an exported program makes of `x` in a process of its own."""
    (folder / "program").write_bytes(exported.serialize())
    np.save(folder / "x.npy", x)
    run_python(CALL, folder, platform)
    return np.load(folder / "y.npy")
