"""docs/seed.md names tests: each of them must exist, in the file that it names."""

from __future__ import annotations

import re

from support.paths import ROOT, TESTS


def test_every_named_test_exists():
    text = (ROOT / "docs" / "seed.md").read_text()
    rows = [line for line in text.splitlines() if line[:1] == "|"]
    assert len(rows) > 20
    for row in rows[2:]:
        cell = row.strip("| ").split(" | ")[-1]
        places = [part.partition(": ") for part in cell.split("; ")]
        assert places, row
        for file, _, names in places:
            source = (TESTS / file.strip("`")).read_text()
            for name in re.findall(r"`(\w+)`", names):
                assert f"\ndef {name}(" in source, f"{file}: {name}"
