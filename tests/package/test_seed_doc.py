"""docs/seed.md names tests: each of them must exist, where it says."""

from __future__ import annotations

import re

from support.paths import TESTS

DOCUMENT = TESTS.parent / "docs" / "seed.md"


def test_every_named_test_exists():
    rows = [line for line in DOCUMENT.read_text().splitlines() if line[:1] == "|"]
    assert len(rows) > 20
    sources = {path.name: path.read_text() for path in TESTS.rglob("test_*.py")}
    for row in rows[2:]:
        cell = row.strip("| ").split(" | ")[-1]
        names = re.findall(r"`(test_\w+(?:\.py)?)`", cell)
        assert names, row
        for name in names:
            if name.endswith(".py"):
                assert name in sources, row
            else:
                found = [s for s in sources.values() if f"def {name}(" in s]
                assert found, f"{name}: {row}"


def test_every_parity_test_is_named():
    text = DOCUMENT.read_text()
    for path in TESTS.rglob("test_seed_parity_*.py"):
        for name in re.findall(r"^def (test_\w+)\(", path.read_text(), re.M):
            assert name in text, f"{path.name}: {name} is not in docs/seed.md"
