"""Programs to compile, for the tests of the compile side."""

from __future__ import annotations

import pytest

from jax_rawcuda._base import cache as _cache
from jax_rawcuda._compile import nvrtc as _nvrtc
from jax_rawcuda._compile.compilation import compile_program
from jax_rawcuda._compile.compiler import nvrtc_for
from jax_rawcuda._compile.program import Program
from jax_rawcuda._source.options import NvrtcOptions

needs_nvrtc = pytest.mark.skipif(
    not _nvrtc.is_available(), reason="NVRTC is not installed"
)


@pytest.fixture
def fresh_cache(tmp_path, monkeypatch):
    """Caches of this test's own."""
    monkeypatch.setenv("JAX_RAWCUDA_CACHE_DIR", str(tmp_path / "cache"))
    _cache.clear_caches()


@pytest.fixture
def cache_dir(tmp_path, monkeypatch):
    """The directory of the disk cache."""
    monkeypatch.setenv("JAX_RAWCUDA_CACHE_DIR", str(tmp_path))
    return tmp_path


@pytest.fixture
def include_dir(tmp_path):
    folder = tmp_path / "include"
    folder.mkdir()
    (folder / "used.h").write_text('#include "inner.h"\n')
    (folder / "inner.h").write_text("#define N 1\n")
    (folder / "unused.h").write_text("")
    return folder


def program(source, **options):
    return Program("k", source, NvrtcOptions(**options))


def compiled(source, *expressions, **options):
    return compile_program(program(source, **options), nvrtc_for("sm_90"), expressions)


def compiles():
    return _cache.cache_stats().compiles


def stored_files(root):
    return [path for path in root.rglob("*") if path.is_file()]
