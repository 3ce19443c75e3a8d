"""Integer intrinsics, and SIMD on the bytes and halfwords of a word."""

from __future__ import annotations

import numpy as np
import pytest
from support.launching import launch

N = 500
MASK = 2**32 - 1


@pytest.fixture
def words(rng):
    return rng.integers(0, 2**32, (2, N), dtype=np.uint32)


def run(device, name, words, columns):
    out = [((columns, N), np.dtype("u4"))]
    return launch(
        device, "integers.cu", name, *words, N, out=out, grid=-(-N // 100), block=100
    )


def lanes(words, kind):
    """A word's lanes as wide integers, lowest first."""
    return words[:, None].view(kind).astype(np.int64)


def joined(values, bits):
    """Lanes, cut to `bits`, as words."""
    values = values & ((1 << bits) - 1)
    shifts = bits * np.arange(32 // bits)
    return (values << shifts).sum(1)


def check(got, wanted):
    for index, (found, want) in enumerate(zip(got, wanted, strict=True)):
        cut = [int(w) & MASK for w in want]
        np.testing.assert_array_equal(found, cut, f"column {index}")


def test_words(device, words):
    x, y = (w.astype(object) for w in words)
    s, t = (w.view(np.int32).astype(object) for w in words)
    both = [int(v) << 32 | int(u) for u, v in zip(x, y, strict=True)]
    four = [lanes(w, np.int8) for w in words], [lanes(w, np.uint8) for w in words]
    two = [lanes(w, np.int16) for w in words], [lanes(w, np.uint16) for w in words]
    octets = np.concatenate([four[1][0], four[1][1]], 1)
    wanted = [
        [int(f"{int(v):032b}"[::-1], 2) for v in x],
        joined(octets[:, [0, 4, 1, 5]], 8),
        [v << 7 >> 32 for v in both],
        [v >> (40 & 31) for v in both],
        [v << 32 >> 32 for v in both],
        [u * v >> 32 for u, v in zip(x, y, strict=True)],
        [u * v >> 32 for u, v in zip(s, t, strict=True)],
        [(u & 0xFFFFFF) * (v & 0xFFFFFF) for u, v in zip(x, y, strict=True)],
        [int(v).bit_count() for v in x],
        [32 - int(v >> 9).bit_length() for v in x],
        [(w & -w).bit_length() for w in (int(v) << 5 & MASK for v in x)],
        [abs(u - v) + 9 for u, v in zip(s, t, strict=True)],
        [abs(u - v) + 9 for u, v in zip(x, y, strict=True)],
        [(u + v) >> 1 for u, v in zip(x, y, strict=True)],
        [(u + v) >> 1 for u, v in zip(s, t, strict=True)],
        [(u + v + 1) >> 1 for u, v in zip(x, y, strict=True)],
        (four[0][0] * four[0][1]).sum(1) + 7,
        (four[1][0] * four[1][1]).sum(1) + 7,
        (two[0][0] * four[0][1][:, :2]).sum(1) - 3,
        (two[1][0] * four[1][1][:, 2:]).sum(1) + 5,
    ]
    check(run(device, "words", words, len(wanted)), wanted)


def test_packed(device, words):
    def pairs(kind):
        return (lanes(w, kind) for w in words)

    (a, b), (s, t) = pairs(np.uint8), pairs(np.int8)
    (c, d), (u, v) = pairs(np.uint16), pairs(np.int16)
    wanted = [
        joined(a + b, 8),
        joined(a - b, 8),
        joined(np.minimum(a + b, 255), 8),
        joined(np.clip(s + t, -128, 127), 8),
        joined(np.abs(a - b), 8),
        joined(np.maximum(s, t), 8),
        joined(np.minimum(a, b), 8),
        joined((a + b + 1) >> 1, 8),
        joined(np.where(a > b, 255, 0), 8),
        np.abs(a - b).sum(1),
        joined(c + d, 16),
        joined(np.clip(u - v, -32768, 32767), 16),
        joined(np.maximum(c, d), 16),
        joined(np.where(u <= v, 65535, 0), 16),
        joined(np.where(a == b, 1, 0), 8),
    ]
    check(run(device, "packed", words, len(wanted)), wanted)
