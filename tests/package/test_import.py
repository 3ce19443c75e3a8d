"""Importing the package is cheap and changes nothing."""

from __future__ import annotations

import json
import pickle
import re
import shutil
from pathlib import Path

import pytest
from support.process import run_python

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
    compiled = {"PYTHONPYCACHEPREFIX": str(bytecode), "PYTHONDONTWRITEBYTECODE": ""}
    return json.loads(run_python(SCRIPT, options=("-W", "error"), **compiled).stdout)


def test_importing_is_cheap_and_changes_nothing(tmp_path):
    runs = [report(tmp_path) for _ in range(4)]
    assert runs[0]["heavy"] == []
    assert runs[0]["environment"]
    assert runs[0]["config"]
    assert not runs[0]["backends"]
    # CPU time of the least disturbed run; the modules load with the first name used.
    assert min(r["cost"] for r in runs) < 0.06, runs


def test_unknown_names_are_attribute_errors():
    import jax_rawcuda as rc

    with pytest.raises(AttributeError, match="no attribute 'kernal'"):
        rc.kernal  # noqa: B018
    with pytest.raises(ImportError, match="kernal"):
        exec("from jax_rawcuda import kernal")


def test_errors_are_named_and_pickled_by_what_users_import():
    import jax_rawcuda as rc

    errors = [v for v in vars(rc._public).values() if is_error(v)]
    assert len(errors) == 8
    for error in errors:
        assert error.__module__ == "jax_rawcuda"
        again = pickle.loads(pickle.dumps(error("k: text.")))
        assert type(again) is error
        assert str(again) == "k: text."


def is_error(value):
    return isinstance(value, type) and issubclass(value, Exception)


def test_star_import():
    import jax_rawcuda as rc

    names: dict = {}
    exec("from jax_rawcuda import *", names)
    assert names["kernel"] is rc.kernel
    assert "TYPE_CHECKING" not in names


def test_the_sources_without_the_extension(tmp_path):
    import jax_rawcuda as rc

    package = Path(rc.__file__).parent
    ignore = shutil.ignore_patterns("_ffi*", "__pycache__")
    shutil.copytree(package, tmp_path / "jax_rawcuda", ignore=ignore)
    code = "import jax_rawcuda as rc; rc.register()"
    ended = run_python(code, code=1, PYTHONPATH=str(tmp_path))
    assert re.search(
        r"ImportError: jax_rawcuda: .* holds the sources, without the compiled "
        r"extension, and hides the installed package\. Start Python in another folder",
        ended.stderr,
    )


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("JAX_RAWCUDA_CPU_TIMEOUT", "abc", "seconds are needed, as 10 or 0.5."),
        ("JAX_RAWCUDA_CPU_TIMEOUT", "-1", "seconds are needed, as 10 or 0.5."),
        ("JAX_RAWCUDA_DEBUG", "maybe", "0 or 1 is needed."),
    ],
)
def test_settings_that_are_not_understood(name, value, says):
    code = "import jax_rawcuda as rc; rc.register()"
    ended = run_python(code, code=1, **{name: value})
    assert f"ValidationError: {name}={value!r}: {says}" in ended.stderr


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
