"""The kernels that a text spells out, and what their parameters are called."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jax_rawcuda._source.declarations import KernelDeclaration, find_kernels


def only(source):
    (kernel,) = find_kernels(source)
    return kernel


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
        ("[[maybe_unused]] int n, int m [[maybe_unused]]", ("n", "m")),
        ("int n __attribute__((unused)), alignas(8) int m", ("n", "m")),
        ("const ns::Foo a, ::Foo b, const struct Foo c", ("a", "b", "c")),
        # Macros of headers that are not in the text: by their capitals, or not at all.
        ("int n UNUSED, Foo m UNUSED, float* RESTRICT x", ("n", "m", "x")),
        ("const float* x UNUSED, int UNUSED k", ("x", "k")),
        ("Foo n unused, float* X UNUSED", (None, None)),
    ],
)
def test_parameter_names(parameters, names):
    assert only(f"__global__ void k({parameters}) {{}}").parameters == names


@pytest.mark.parametrize(
    ("parameters", "names"),
    [
        ("int n unused, Foo m unused, int unused k", ("n", "m", "k")),
        ("float* restricted x, float* y unused, float* unused", ("x", "y", None)),
        ("real x, real* y, const real z", ("x", "y", "z")),
        ("int n attr(unused), attr(a, b) int m", ("n", "m")),
        ("int swapped, whole, int n = unused", (None, None, "n")),
    ],
)
def test_macros_are_no_names(parameters, names):
    defined = ("unused", "restricted", "real", "attr(...)", "swapped", "whole")
    source = "".join(f"#define {macro} __x\n" for macro in defined)
    declared = f"__global__ void attr(2) k({parameters}) {{}}"
    assert only(source + declared).parameters == names
    macros = [macro.split("(")[0] for macro in defined]
    (kernel,) = find_kernels(declared, macros=macros)
    assert (kernel.name, kernel.parameters) == ("k", names)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("__global__ void k() {}", KernelDeclaration("k", ())),
        (
            "__global__ void \u044f\u0434_1() {}",
            KernelDeclaration("\u044f\u0434_1", ()),
        ),
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
            KernelDeclaration("a::b::k", (), short_name="a::k"),
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
    template <typename T> __global__ void k(T* x, int n, int m) {}
    template <> __global__ void k<float>(float* x, int n, int) {}
    """
    assert only(source) == KernelDeclaration("k", ("x", "n", "m"), template=True)
    assert find_kernels(source.split("\n")[2]) == ()


@pytest.mark.parametrize(
    "texts",
    [
        (
            "template <> __global__ void k<int>(int* x, int m, int n) {}",
            "template <class T> __global__ void k(T* x, int n, int m) {}",
        ),
        (
            "__global__ void k(int* x, int n, int m);",
            "__global__ void k(int* x, int m, int n) {}",
        ),
        (
            "#ifdef A\n__global__ void k(int* x, int n, int m) {}\n#else\n"
            "__global__ void k(int* x, int m, int n) {}\n#endif",
        ),
    ],
)
def test_declarations_that_disagree_name_nothing(texts):
    for order in (texts, reversed(texts), ["\n".join(texts)]):
        (kernel,) = find_kernels(*order)
        assert kernel.parameters == ("x", None, None)


@pytest.mark.parametrize(
    ("source", "parameters"),
    [
        ("#if 0\n{a}\n#endif\n{b}", ("b",)),
        ("#if 0 // don't\n{a} it's\n#else\n{b}\n#endif", ("b",)),
        ("#if false\n{a}\n#elif X\n{b}\n#endif", ("b",)),
        ("#if 1\n{b}\n#else\n{a}\n#endif", ("b",)),
        ("#if true\n{b}\n#elif X\n{a}\n#else\n{a}\n#endif", ("b",)),
        ("# if 0\n#if 1\n{a}\n#else\n{a}\n#endif\n{a}\n#endif\n{b}", ("b",)),
        ("#ifdef X\n{b}\n#endif", ("b",)),
        ("#if 0 || X\n{b}\n#endif", ("b",)),
        ("#endif\n#else\n{b}", ("b",)),
        ("#ifndef X\n{a}\n#else\n{b}\n#endif", (None,)),
    ],
)
def test_text_that_is_never_compiled_declares_nothing(source, parameters):
    a, b = "__global__ void k(int a) {}", "__global__ void k(int b) {}"
    assert only(source.format(a=a, b=b)).parameters == parameters


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
