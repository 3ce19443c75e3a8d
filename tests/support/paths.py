"""Where the checkout's folders are."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).parent.parent
ROOT = TESTS.parent
DATA = TESTS / "data"  # recorded by a GPU
KERNELS = TESTS / "support" / "kernels"
