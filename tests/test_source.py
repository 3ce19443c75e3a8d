"""The text: what it is, where it stands, which kernels it spells out."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jax_rawcuda import _source
from jax_rawcuda._declarations import KernelDeclaration, find_kernels
from jax_rawcuda._errors import ValidationError


def only(source):
    (kernel,) = find_kernels(source)
    return kernel


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("", "the source is empty"),
        (" \n\t", "the source is empty"),
        ("int x;\0", "NUL character at index 6"),
        ("// \udcff", "not valid UTF-8 at index 3"),
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


@pytest.mark.parametrize(
    ("parameters", "names"),
    [
        ("", ()),
        ("void", ()),
        ("float* x", ("x",)),
        ("const float* __restrict__ x, int n", ("x", "n")),
        ("float *const x, unsigned n = 3", ("x", "n")),
        ("float x[], float y[4][4]", ("x", "y")),
        ("float*, int, unsigned int, const Foo, ns::Foo", (None,) * 5),
        ("const T* __restrict__", (None,)),
        ("unsigned long long n, struct S s", ("n", "s")),
        ("cuda::std::array<float, 4> a, Pair<int, Pair<int, 2>> b", ("a", "b")),
        ("int n = f(1, 2), Box b = {1, 2}", ("n", "b")),
        ("float (*rows)[4], void (*f)(int, int)", ("rows", "f")),
        ("const __grid_constant__ Params p", ("p",)),
        ("typename Traits<T>::type* x", ("x",)),
        ("Args... args", ("args",)),
        ("const int& n", ("n",)),
        ("float* /* out */ y, // gone, really\n int n", ("y", "n")),
    ],
)
def test_parameter_names(parameters, names):
    assert only(f"__global__ void k({parameters}) {{}}").parameters == names


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("__global__ void k() {}", KernelDeclaration("k", ())),
        ("void __global__ k() {}", KernelDeclaration("k", ())),
        ("static __global__ void k();", KernelDeclaration("k", ())),
        ("__global__ auto k() -> void {}", KernelDeclaration("k", ())),
        (
            "__global__ void __launch_bounds__(256, 2) k() {}",
            KernelDeclaration("k", ()),
        ),
        ("__launch_bounds__(N) __global__ void k() {}", KernelDeclaration("k", ())),
        ("[[nodiscard]] __global__ void k() {}", KernelDeclaration("k", ())),
        (
            'extern "C" __global__ void k() {}',
            KernelDeclaration("k", (), c_linkage=True),
        ),
        (
            'extern "C" { int f(); __global__ void k() {} }',
            KernelDeclaration("k", (), c_linkage=True),
        ),
        (
            "template <class T, int N = (3 > 2)> __global__ void k() {}",
            KernelDeclaration("k", (), template=True),
        ),
        ("namespace a::b { __global__ void k() {} }", KernelDeclaration("a::b::k", ())),
        (
            "namespace a { namespace { } inline namespace b { __global__ void k(); } }",
            KernelDeclaration("a::b::k", ()),
        ),
        ("namespace { __global__ void k() {} }", KernelDeclaration("k", ())),
        ("namespace a { } __global__ void k() {}", KernelDeclaration("k", ())),
        ("namespace x = y; __global__ void k() {}", KernelDeclaration("k", ())),
        ("__global__ void a::k() {}", KernelDeclaration("a::k", ())),
        ("struct S { int f() {} }; __global__ void k() {}", KernelDeclaration("k", ())),
    ],
)
def test_declarations(source, expected):
    assert only(source) == expected


@pytest.mark.parametrize(
    "source",
    [
        "// __global__ void k() {}",
        "/* __global__ void k() {} */",
        'const char* s = "__global__ void k() {}";',
        'const char* s = R"x(__global__ void k() {})x";',
        "#define KERNEL __global__ \\\n void k() {}",
        "__device__ void f() {}",
        "template __global__ void k<float>(float*);",
        "__global__",
        "__global__ void",
        "__global__ void k(",
        "template <",
        'extern "C"',
        "",
    ],
)
def test_what_is_no_declaration(source):
    assert [kernel for kernel in find_kernels(source) if kernel.parameters] == []


def test_a_specialisation_is_not_a_kernel_of_its_own():
    source = """
    template <typename T> __global__ void k(T* x) {}
    template <> __global__ void k<float>(float* x) {}
    """
    assert only(source) == KernelDeclaration("k", ("x",), template=True)


def test_a_declaration_and_its_definition_are_one():
    source = "__global__ void k(float*, int); __global__ void k(float* x, int n) {}"
    assert only(source).parameters == ("x", "n")


def test_overloads_do_not_lend_each_other_names():
    source = "__global__ void k(float* x); __global__ void k(double* y);"
    assert only(source).parameters == (None,)


def test_several_kernels_in_order():
    source = "__global__ void b() { if (1) {} } __global__ void a(int n);"
    assert [kernel.name for kernel in find_kernels(source)] == ["b", "a"]


@given(st.text())
@example("]")
@example("a]")
def test_any_text_is_scanned(text):
    find_kernels(text)
    find_kernels("__global__ void k(" + text)


@given(
    st.lists(
        st.sampled_from(
            [
                *("__global__", "void", "k", "template", "namespace", "extern", '"C"'),
                *("(", ")", "{", "}", "<", ">", "[", "]", "::", ",", ";", "="),
            ]
        )
    )
)
def test_any_order_of_tokens_is_scanned(tokens):
    find_kernels(" ".join(tokens))
