"""What a kernel and its parameters are called, where the text alone does not decide."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest
from support.programs import needs_nvrtc

import jax_rawcuda as rc
from jax_rawcuda._base.errors import CompileError, SignatureError, ValidationError

ARRAY = np.arange(6, dtype=np.float32).reshape(2, 3)
BODY = "{ if (threadIdx.x == 0) out[0] = rows * 1000 + cols; }"
IN_ORDER = f"__global__ void k(const float* x, int rows, int cols, float* out) {BODY}"
SWAPPED = IN_ORDER.replace("int rows, int cols", "int cols, int rows")


def shape_of(source, *args, **options):
    """Calls a kernel that writes 1000 * rows + cols."""
    template = options.pop("template", None)
    kernel = rc.kernel(
        source,
        "k",
        shapes="rows cols -> 1",
        threads=1,
        template=template,
        options=rc.NvrtcOptions(**options),
    )
    return float(kernel(jnp.asarray(ARRAY), *args)[0])


def test_names_come_from_the_text_that_is_compiled():
    assert shape_of(IN_ORDER) == shape_of(SWAPPED) == 2003
    assert shape_of(f"#if 0\n{IN_ORDER}\n#endif\n{SWAPPED}") == 2003
    assert shape_of('#include "k.h"\n', headers={"k.h": SWAPPED}) == 2003


def test_a_kernel_of_a_header_needs_no_name():
    options = rc.NvrtcOptions(headers={"k.h": IN_ORDER})
    text = "#if 0\n__global__ void gone() {}\n#endif\n#include <k.h>\n"
    assert rc.compile_nvrtc(text, options).function().name == "k"
    made = f"#define K(name) {IN_ORDER.replace('k(', 'name(')}\nK(made)"
    with pytest.raises(ValidationError, match="no kernel in plain sight; name one"):
        rc.compile_nvrtc(made).function()
    assert rc.compile_nvrtc(made).function("made").name == "made"


@pytest.mark.parametrize("name", ["a::k", "a::v1::k", None])
def test_an_inline_namespace_may_be_left_out(name):
    source = """namespace a { inline namespace v1 {
      __global__ void k(const float* x, float* out, int count) {
        if (threadIdx.x < count) out[threadIdx.x] = 2 * x[threadIdx.x];
      }
    } }"""
    kernel = rc.kernel(source, name, shapes="count -> count", threads="count")
    x = np.arange(5, dtype=np.float32)
    np.testing.assert_array_equal(kernel(x=x), 2 * x)


def test_a_macro_after_a_name_is_not_the_name():
    unused = IN_ORDER.replace("rows,", "rows UNUSED,").replace("cols,", "cols UNUSED,")
    assert shape_of(f"#define UNUSED __attribute__((unused))\n{unused}") == 2003
    assert shape_of(unused, defines={"UNUSED": ""}) == 2003
    header = {"unused.h": "#define UNUSED\n"}
    assert shape_of(f'#include "unused.h"\n{unused}', headers=header) == 2003


PRIMARY = f"template <class T> {IN_ORDER.replace('float', 'T')}\n"
NOT_NAMED = r"The source does not tell the name of arg1, arg2: a macro makes it, or"


@pytest.mark.parametrize(
    ("source", "options"),
    [
        (
            PRIMARY + "template <> " + SWAPPED.replace("k(", "k<float>("),
            {"template": ("float",)},
        ),
        (
            '#include "k.h"\ntemplate <> ' + SWAPPED.replace("k(", "k<float>("),
            {"template": ("float",), "headers": {"k.h": PRIMARY}},
        ),
        (f"#ifdef OLD\n{IN_ORDER}\n#else\n{SWAPPED}\n#endif", {}),
        (
            f"#ifdef OLD\n{IN_ORDER}\n#else\n#include <k.h>\n#endif",
            {"headers": {"k.h": SWAPPED}},
        ),
        (f"#define K(T) {SWAPPED}\nK(float)", {}),
    ],
)
def test_names_that_are_not_certain_are_not_used(source, options):
    with pytest.raises(SignatureError, match=NOT_NAMED):
        shape_of(source, **options)
    assert shape_of(source, 3, 2, **options) == 2003


OVERLOADS = """
__global__ void k(const float* x, float* out, unsigned n) { out[0] = 1; }
__global__ void k(const int* x, float* out, unsigned n) { out[0] = 2; }
"""


@needs_nvrtc
@pytest.mark.parametrize(
    "name",
    [
        "k(const float*, float*, unsigned)",
        "k(float const *, float *, unsigned int)",
        "k(const float* x, float* out, unsigned n)",
        "::k(const float*__restrict__,float*,unsigned)",
    ],
)
def test_an_overload_may_be_named_as_people_spell_types(name):
    module = rc.compile_nvrtc(OVERLOADS)
    kernel = rc.kernel(module, name, shapes="n -> n", threads="n")
    assert float(kernel(jnp.ones(3))[0]) == 1
    assert str(module.function(name).signature) == (
        "void k(const float* x, float* out, unsigned int n)"
    )


@needs_nvrtc
def test_overloads_are_listed_as_people_spell_types():
    module = rc.compile_nvrtc(OVERLOADS)
    listed = (
        r"k\(const float\*, float\*, unsigned int\), k\(const int\*, float\*, unsig"
    )
    with pytest.raises(ValidationError, match=f"'k' is overloaded: {listed}"):
        _ = module.function("k").signature
    with pytest.raises(ValidationError, match=rf"no kernel 'k\(char\)'.* {listed}"):
        _ = module.function("k(char)").signature


@needs_nvrtc
def test_a_macro_that_breaks_cudas_own_headers_is_told():
    source = "__global__ void k(T* x) {}"
    with pytest.raises(CompileError, match=r"Hint: A name in NvrtcOptions\.defines is"):
        rc.compile_nvrtc(source, rc.NvrtcOptions(defines={"T": "float"}))
    with pytest.raises(CompileError) as failure:
        rc.compile_nvrtc(source, rc.NvrtcOptions(defines={"MY_NAME": "float"}))
    assert "Hint" not in str(failure.value)


def test_a_byte_order_mark_does_not_matter(tmp_path):
    assert shape_of("\ufeff" + IN_ORDER) == 2003
    path = tmp_path / "k.cu"
    path.write_bytes(("\ufeff" + IN_ORDER).encode())
    assert shape_of(path) == 2003
