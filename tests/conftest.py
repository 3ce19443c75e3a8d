"""Strict promotion for every test; GPU tests are skipped where there is no GPU."""

from __future__ import annotations

import importlib
import os
from pathlib import Path

import jax
import numpy as np
import pytest
from hypothesis import settings
from support.module_source import module as module
from support.module_source import module_cache as module_cache
from support.module_source import no_nvrtc as no_nvrtc
from support.programs import cache_dir as cache_dir
from support.programs import fresh_cache as fresh_cache
from support.programs import include_dir as include_dir

# Children started with `python -c` must find the installed package, not the folder of
# sources that tests run in: that one holds no compiled extension.
os.environ["PYTHONSAFEPATH"] = "1"
# They find the helpers beside the tests, too.
_folders = [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, _folders))

jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_numpy_rank_promotion", "raise")
jax.config.update("jax_traceback_filtering", "off")  # whole messages, and all frames
jax.config.update("jax_num_cpu_devices", 2)  # several devices, also in CI


def cuda_devices() -> int:
    try:
        return len(jax.devices("cuda"))
    except RuntimeError:
        return 0


def pytest_collection_modifyitems(items):
    needs = {"gpu": 1, "multi_gpu": 2}
    if not any(item.get_closest_marker(mark) for item in items for mark in needs):
        return
    found = cuda_devices()
    for item in items:
        for mark, count in needs.items():
            if item.get_closest_marker(mark) and found < count:
                reason = f"needs {count} CUDA devices, found {found}"
                item.add_marker(pytest.mark.skip(reason=reason))


PLATFORMS = ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)]


@pytest.fixture(params=PLATFORMS)
def device(request):
    """Each platform's first device: what runs on the CPU must run on a GPU alike."""
    return jax.devices(request.param)[0]


@pytest.fixture(params=PLATFORMS)
def default_device(request):
    """The same, as JAX's default while the test runs."""
    device = jax.devices(request.param)[0]
    with jax.default_device(device):
        yield device


@pytest.fixture
def rng():
    return np.random.default_rng(20111112)


@pytest.fixture
def x64():
    with jax.enable_x64(True):
        yield


# The same examples on every run: a check of a commit must not depend on luck.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")


@pytest.fixture
def no_xla(monkeypatch):
    """Fails when a primitive is bound."""
    # What else binds it must not keep the replacement.
    importlib.import_module("jax_rawcuda._xla.batching")

    def reached(*_args, **_params):
        raise AssertionError("the primitive was bound")

    monkeypatch.setattr("jax_rawcuda._xla.primitive.bind", reached)
