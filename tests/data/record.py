"""Records on a GPU what the tests on the CPU compare with.

    python tests/data/record.py operations OUT    # operations.npz, and all results
    python tests/data/record.py fuzz OUT [COUNT]  # fuzz.npz, and the new results

The folder OUT then also holds `*_full.npz`, which is too large to keep: it tells which
values differ where a checksum does.
"""

from __future__ import annotations

import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import jax
import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from support import math_errors as _math_errors
from support.fuzz import kernels as _fuzz
from support.fuzz import run as _fuzz_run
from support.operations import all as _operations

FUZZED = 3000
_TOGETHER = 10  # random kernels per module
WORKERS = os.cpu_count() or 1


def record_operations(folder: Path) -> None:
    """Writes the bits of special operands' results, and checksums of the others'."""
    groups = _operations.groups()
    with ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(lambda group: group.module(), groups))
    results = {}
    for group in groups:
        bits, special = group.run()
        for operation, words in zip(group.operations, bits, strict=True):
            results[operation.name] = words, special
    _operations.save(folder / "operations.npz", results)
    full = {f"r{k}": words for k, (words, _) in enumerate(results.values())}
    names = np.array(list(results))
    np.savez_compressed(folder / "operations_full.npz", names=names, **full)
    for name, error in _math_errors.measure().items():
        print(f"{name}: {error}")


def record_fuzz(folder: Path, count: int = FUZZED) -> None:
    """Writes a digest of the results of each random kernel.

    Kernels that did not change since they were recorded keep their digests.
    """
    kept = np.load(Path(__file__).with_name("fuzz.npz"))
    digests, sources = np.zeros(count, np.uint64), np.zeros(count, np.uint32)
    known = min(count, len(kept["sources"]))
    digests[:known], sources[:known] = kept["digests"][:known], kept["sources"][:known]
    now = np.array([_fuzz.fingerprint(seed) for seed in range(count)], np.uint32)
    seeds = np.flatnonzero(now != sources).tolist()
    batches = [seeds[k : k + _TOGETHER] for k in range(0, len(seeds), _TOGETHER)]

    def run(seeds: list[int]) -> list[np.ndarray]:
        try:
            return _fuzz_run.run(seeds)
        except Exception as error:
            # The others are still worth having.
            print(f"seeds {seeds}: {type(error).__name__}: {error}", flush=True)
            return [np.zeros(0, np.uint32)] * len(seeds)

    with ThreadPoolExecutor(WORKERS) as pool:
        words = [w for batch in pool.map(run, batches) for w in batch]
    digests[seeds] = [_fuzz_run.digest(w) for w in words]
    np.savez_compressed(folder / "fuzz.npz", digests=digests, sources=now)
    full = {f"r{seed}": w for seed, w in zip(seeds, words, strict=True)}
    np.savez_compressed(folder / "fuzz_full.npz", **full)


if __name__ == "__main__":
    started = time.monotonic()
    out = Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    print(jax.devices()[0].device_kind)
    if sys.argv[1] == "operations":
        record_operations(out)
    else:
        record_fuzz(out, *map(int, sys.argv[3:]))
    print(f"{time.monotonic() - started:.0f} s")
