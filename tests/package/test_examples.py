"""Every example runs, checks itself and prints something."""

from __future__ import annotations

import functools
import re

import pytest
from support.paths import ROOT
from support.process import run_python

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))

on_both_platforms = pytest.mark.parametrize(
    "platform", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]
)


@pytest.fixture(scope="module")
def output_of(tmp_path_factory):
    """Runs a file, once, in a process of its own, warnings being errors."""
    folder = tmp_path_factory.mktemp("written")

    @functools.cache
    def run(program, platform):
        places = {"JAX_PLATFORMS": platform, "TMPDIR": str(folder)}
        return run_python(program, options=("-W", "error"), **places).stdout

    return run


def needs(module):
    """The module, or a skip that says how to get it."""
    reason = f"needs {module}: pip install '.[examples]'"
    return pytest.importorskip(module, reason=reason, exc_type=ImportError)


@on_both_platforms
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example(output_of, example, platform):
    assert output_of(example, platform)


@on_both_platforms
def test_gray_scott_draws_its_result(output_of, platform):
    image = needs("PIL.Image")
    output = output_of(ROOT / "examples/gray_scott.py", platform)
    with image.open(re.search(r"^saved (.+)$", output, re.MULTILINE)[1]) as picture:
        assert picture.size == ((128, 128) if platform == "cpu" else (1024, 1024))
        dark, bright = picture.getextrema()
    assert dark < 100
    assert bright == 255


@pytest.mark.gpu
def test_cublas_is_called(output_of):
    needs("nvmath.bindings.cublas")
    output = output_of(ROOT / "examples/cublas_between_kernels.py", "cuda")
    assert output == "product by cuBLAS\n"


@on_both_platforms
def test_readme_program(output_of, tmp_path, platform):
    text = (ROOT / "README.md").read_text()
    program = tmp_path / "readme.py"
    program.write_text(re.search(r"```python\n(.*?)```", text, re.DOTALL)[1])
    assert float(output_of(program, platform)) == pytest.approx(2.5, rel=1e-3)


def test_examples_are_short():
    assert EXAMPLES
    for example in EXAMPLES:
        assert len(example.read_text().splitlines()) <= 80, example.name
