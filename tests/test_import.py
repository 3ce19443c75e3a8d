"""Importing the package is cheap and changes nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

SCRIPT = r"""
import json, os, sys, time
import jax
environment = dict(os.environ)
config = dict(jax.config.values)
cost = time.process_time()
import jax_rawcuda as rc
cost = time.process_time() - cost
from jax._src import xla_bridge
print(json.dumps({
    "cost": cost,
    "heavy": [n for n in ("llvmlite", "cuda", "clang", "IPython") if n in sys.modules],
    "environment": environment == dict(os.environ),
    "config": config == dict(jax.config.values),
    "backends": xla_bridge.backends_are_initialized(),
    "public": sorted(n for n in dir(rc) if not n.startswith("_")),
}))
"""


def report(bytecode):
    # As installed: with compiled files, which a test run may have switched off.
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(bytecode)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, "-W", "error", "-c", SCRIPT]
    run = subprocess.run(
        command, capture_output=True, text=True, check=True, env=environment
    )
    return json.loads(run.stdout)


def test_import(tmp_path):
    runs = [report(tmp_path) for _ in range(4)]
    assert runs[0]["heavy"] == []
    assert runs[0]["environment"]
    assert runs[0]["config"]
    assert not runs[0]["backends"]
    # CPU time of the least disturbed run; the rooms load with the first name used.
    assert min(r["cost"] for r in runs) < 0.06, runs


def test_unknown_names_are_attribute_errors():
    import jax_rawcuda as rc

    with pytest.raises(AttributeError, match="no attribute 'kernal'"):
        rc.kernal  # noqa: B018
    with pytest.raises(ImportError, match="kernal"):
        exec("from jax_rawcuda import kernal")


def test_public_names():
    import jax_rawcuda as rc

    names = {n for n in dir(rc) if not n.startswith("_")}
    assert {
        "kernel",
        "op",
        "Session",
        "LaunchConfig",
        "KernelArg",
        "NvrtcOptions",
        "compile_nvrtc",
        "load_ptx",
        "load_cubin",
        "export_safety_checks",
        "RawCudaError",
    } <= names
    for name in names:
        assert getattr(rc, name).__doc__, name
