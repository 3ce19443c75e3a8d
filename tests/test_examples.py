"""Every example runs, checks itself and prints something."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))

on_both_platforms = pytest.mark.parametrize(
    "platform", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]
)


def output_of(program, platform):
    """Runs a file in a process of its own, warnings being errors."""
    done = subprocess.run(
        [sys.executable, "-W", "error", str(program)],
        env={**os.environ, "JAX_PLATFORMS": platform},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@on_both_platforms
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example(example, platform):
    assert output_of(example, platform)


@on_both_platforms
def test_readme_program(tmp_path, platform):
    text = (ROOT / "README.md").read_text()
    program = tmp_path / "readme.py"
    program.write_text(re.search(r"```python\n(.*?)```", text, re.DOTALL)[1])
    assert float(output_of(program, platform)) == pytest.approx(2.5, rel=1e-3)


def test_examples_are_short():
    assert EXAMPLES
    for example in EXAMPLES:
        assert len(example.read_text().splitlines()) <= 80, example.name
