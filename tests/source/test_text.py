"""The text: what it is, and where it stands."""

import pytest

import jax_rawcuda as rc
from jax_rawcuda._base.errors import ValidationError
from jax_rawcuda._source import text as _source


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("", "the source is empty"),
        (" \n\t", "the source is empty"),
        ("int x;\0", "NUL character at index 6"),
        ("// \udcff", "not valid UTF-8 at index 3"),
        (
            "kernels/k.cu",
            r"'kernels/k.cu' is the name of a file, not its text\. Give pa",
        ),
        (" k.ptx\n", "is the name of a file"),
    ],
)
def test_what_is_no_text_is_refused(source, says):
    with pytest.raises(ValidationError, match=f"k.cu: .*{says}"):
        _source.check_text(source, "k.cu")


def test_a_file_that_is_not_utf8_says_where(tmp_path):
    path = tmp_path / "k.cu"
    path.write_bytes(b"int a;\n// caf\xe9\n")
    with pytest.raises(ValidationError, match=r"k\.cu:2: byte 0xe9"):
        _source.read_source(path)
    path.write_bytes("// café".encode())
    assert _source.read_source(path) == "// café"


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path):
    path = tmp_path / "k.cu"
    path.write_bytes("\ufeff// café".encode())
    assert _source.read_source(path) == "// café"
    path.write_bytes(b"\xef\xbb\xbf\n\xe9")
    with pytest.raises(ValidationError, match=r"k\.cu:2: byte 0xe9"):
        _source.read_source(path)


@pytest.mark.parametrize(
    "load", [rc.compile_nvrtc, rc.kernel, rc.load_ptx, rc.load_cubin]
)
def test_a_file_that_cannot_be_read_says_why(tmp_path, load):
    options = {"shapes": "n -> n", "threads": "n"} if load is rc.kernel else {}
    with pytest.raises(
        ValidationError, match=r"no\.cu: the file cannot be read, no such fi"
    ):
        load(tmp_path / "no.cu", **options)
    with pytest.raises(
        ValidationError, match=r"cannot be read, is a directory\. Give the"
    ):
        load(tmp_path, **options)


def test_one_line_of_code_is_no_file_name():
    for text in (
        "int x;",
        "#define A .5f",
        '#include "k.cu"',
        "f(x.y)",
        "x.y z",
        "a.b-c",
    ):
        _source.check_text(text, "k.cu")


HERE = r"""
__global__ void placed(float* x) {
  x[0] = 1;  // "\n"
}
"""

ESCAPED = """
__global__ void escaped(const char* x) {
  printf("%s\\n", x);
}
"""


def line_of(text):
    with open(__file__, encoding="utf-8") as file:  # noqa: PTH123
        lines = file.read().split("\n")
    return 1 + next(i for i, line in enumerate(lines) if line == text)


def test_the_text_is_found_in_the_callers_file():
    location = _source.find_caller(HERE)
    assert location.file == __file__
    assert location.line + 1 == line_of("__global__ void placed(float* x) {")


def test_a_text_with_escapes_is_found():
    location = _source.find_caller(ESCAPED)
    assert location.line + 1 == line_of("__global__ void escaped(const char* x) {")


def test_an_indented_text_is_found_after_dedent():
    import textwrap

    text = textwrap.dedent(
        """\
        __global__ void dedented(float* x) {
          x[0] = 2;
        }
        """
    )
    location = _source.find_caller(text)
    assert location.line == line_of("        __global__ void dedented(float* x) {")


def test_a_generated_text_is_not_found():
    name = "made" + "_up"
    assert _source.find_caller(f"__global__ void {name}() {{}}\n/* {name} */") is None


def test_line_directive_quotes_the_path():
    location = _source.Location('C:\\a "b".py', 7)
    assert _source.line_directive(location) == '#line 7 "C:\\\\a \\"b\\".py"\n'
