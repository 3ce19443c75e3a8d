"""The precompiled prelude: what happens when the headers do not stay as they were."""

from __future__ import annotations

import shutil

from jax_rawcuda.cpu.frontend import clang, prelude, toolchain

# Clang looks at a header again when it writes the lines of what is called from there.
SOURCE = 'extern "C" __global__ void k(float* x) { *x = __fmul_rn(*x, *x); }'


def test_headers_that_change_while_a_process_runs(tmp_path, monkeypatch, fresh_cache):
    headers = tmp_path / "include"
    shutil.copytree(toolchain.INCLUDE_DIR, headers)
    for module in (clang, prelude):
        monkeypatch.setattr(module, "INCLUDE_DIR", headers)
    caches = (prelude.headers_digest, prelude._precompiled)
    for cache in caches:
        cache.cache_clear()
    try:
        before = clang.compile_source(SOURCE, program_name="k.cu").ptx
        path = headers / "jrc" / "math" / "rounding.h"
        text = path.read_text()
        (headers / "jrc" / "math" / "rounding.h").write_text(
            f"{text}// of a newer release\n"
        )
        after = clang.compile_source(SOURCE, program_name="k.cu").ptx
        assert ".visible .entry k(" in before
        assert after == before
    finally:
        for cache in caches:
            cache.cache_clear()
