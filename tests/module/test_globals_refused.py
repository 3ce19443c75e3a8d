"""Variables of a module that cannot be set, values that do not fit: what is said."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from module.test_globals import SOURCE, TAPS
from support.ptx_module import HEADER

import jax_rawcuda as rc

# Further kinds, with what no name expression reaches.
ODD = r"""
struct Pair { int a, b; };
struct Triple { int a, b, c; };
enum Color { red, green = 7 };
enum class Wide : long long { one = 1 };
__device__ Pair pair;
__device__ Triple triple;
__device__ Color color;
__device__ Wide wide;
__constant__ struct { int a; float b; } record;
__device__ union { int i; float f; } either[2];
__device__ enum { off, on } state;
__constant__ const struct { int a; } settled = {1};
__global__ void count(int* out) {
  static __device__ int calls = 3;
  static int twice;
  if (out[0]) calls++, twice++;
  out[0] = calls + twice + record.a + either[1].i + state + settled.a + color +
           (int)wide + pair.b + triple.c;
}
"""


@pytest.fixture(scope="module")
def module():
    return rc.compile_nvrtc(SOURCE)


@pytest.fixture(params=["nvrtc", "clang"])
def odd(request):
    if request.param == "clang":
        request.getfixturevalue("no_nvrtc")
    return rc.compile_nvrtc(ODD + f"// {request.param}")


@pytest.mark.parametrize("name", ["record", "either", "state", "settled"])
def test_a_type_without_a_name(odd, name):
    with pytest.raises(rc.ValidationError) as caught:
        odd.global_(name)
    assert str(caught.value) == (
        f"count: variable '{name}' has a type without a name, which the compiler "
        "cannot spell. Name it: `struct Name {...};`."
    )


@pytest.mark.parametrize("name", ["calls", "count::calls", "count(int*)::calls"])
def test_a_variable_of_a_function(odd, name):
    for this in (name, name.replace("calls", "twice")):
        with pytest.raises(rc.ValidationError) as caught:
            odd.global_(this)
        assert str(caught.value) == (
            f"count: variable '{this}' is local to `count(int*)`, where no name "
            "reaches it. Declare it outside of the function."
        )


def test_what_no_name_reaches_is_not_offered(odd):
    with pytest.raises(rc.ValidationError) as caught:
        odd.global_("cals")
    assert str(caught.value).startswith("count: no variable 'cals'. Variables in the ")
    assert "::calls" not in str(caught.value)


def test_enums(odd):
    changed = odd.global_("color").set(np.int32(7)).global_("wide").set(np.int64(9))
    base = odd.global_("pair").set(np.int32([0, 100])).global_("color").set(np.int32(0))
    results = []
    for module in (base, changed):
        contract = {"out": np.zeros(1, np.int32), "fill": 0, "threads": 1, "block": 1}
        kernel = rc.kernel(module, "count", **contract)
        results.append(int(kernel()[0]))
    assert results == [3 + 1 + 100, 3 + 1 + 7 + 9]


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("color", "np.int32(...) for an enum, a NumPy record for a struct."),
        ("wide", "np.int64(...) for an enum, a NumPy record for a struct."),
        ("pair", "np.int64(...) for an enum, a NumPy record for a struct."),
        ("triple", "an array of 12 bytes."),
    ],
)
def test_a_number_for_a_type_of_the_sources(odd, name, advice):
    with pytest.raises(rc.SignatureError) as caught:
        odd.global_(name).set(7)
    assert str(caught.value) == (
        f"count: variable '{name}' is `{name.title()}`, given a single number. Give "
        f"{advice}"
    )


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gian", "filter: no variable 'gian'. Did you mean 'ns::gain'?"),
        ("nothing", "filter: no variable 'nothing'. Variables in the source: addr"),
        ("fixed", "'fixed' is `const float [2]`: the compiler has used its value al"),
        ("address", "filter: variable 'address' holds an address, which is known on"),
        ("callback", "'callback' holds an address"),
    ],
)
def test_variables_that_cannot_be_set(module, name, message):
    with pytest.raises(rc.ValidationError) as caught:
        module.global_(name)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value", "kind", "message"),
    [
        (
            "ns::taps",
            TAPS.astype(np.float64),
            rc.SignatureError,
            "filter: variable 'ns::taps' is `float [2][4]`, given float64[2,4]. Cast "
            'it with .astype("float32").',
        ),
        (
            "ns::taps",
            TAPS.T,
            rc.ValidationError,
            "filter: variable 'ns::taps' is `float [2][4]`, given float32[4,2]; shape "
            "(2, 4) or (8,) is needed. Reshape it.",
        ),
        (
            "offsets",
            np.zeros(7, np.int16),
            rc.ValidationError,
            "filter: variable 'offsets' is `short [8]`, given int16[7]; shape (8,) is "
            "needed. Reshape it.",
        ),
        (
            "offsets",
            3,
            rc.SignatureError,
            "filter: variable 'offsets' is `short [8]`, given a single number. Give an "
            "array of 16 bytes.",
        ),
        (
            "pair",
            b"123",
            rc.ValidationError,
            "filter: variable 'pair' has 16 bytes; the value has 3. Give as many.",
        ),
        (
            "ns::gain",
            1e99,
            rc.ValidationError,
            "filter: variable 'ns::gain'=1e+99 overflows `float`",
        ),
        ("counter", 1.5, rc.ValidationError, "filter: variable 'counter'=1.5"),
        (
            "counter",
            "text",
            rc.SignatureError,
            "filter: variable 'counter' is `int`, given str. Give a NumPy array.",
        ),
        (
            "counter",
            object(),
            rc.SignatureError,
            "filter: variable 'counter' is `int`, given object. Give a NumPy array.",
        ),
    ],
)
def test_values_that_do_not_fit(module, name, value, kind, message):
    with pytest.raises(kind) as caught:
        module.global_(name).set(value)
    assert message in str(caught.value)


SHARED = """
namespace ns { __shared__ int common; }
template <int N> __global__ void sized(int* y) {
  __shared__ __align__(16) float tile[N], other;
  tile[threadIdx.x] = other = 1;
  y[0] = tile[0] + ns::common;
}
__global__ void open(int* y) {
  extern __shared__ unsigned long long bytes[];
  y[0] = bytes[0];
}
"""


@pytest.mark.parametrize("reader", ["nvrtc", "clang"])
@pytest.mark.parametrize("name", ["tile", "other", "ns::common", "bytes"])
def test_shared_memory(name, reader, request):
    if reader == "clang":
        request.getfixturevalue("no_nvrtc")
    with pytest.raises(rc.ValidationError) as caught:
        rc.compile_nvrtc(SHARED).global_(name)
    assert str(caught.value) == (
        f"sized: variable '{name}' is shared memory, of which each block has its own. "
        "Fill it in the kernel, or declare it __device__ or __constant__."
    )


def test_shared_memory_of_ptx():
    module = rc.load_ptx(f"""{HEADER}
    .global .align 4 .u32 plain; .extern .shared .align 16 .b8 bytes[];
    .visible .entry k() {{ .shared .align 4 .b8 tile[64]; ret; }}""")
    for name in ("bytes", "tile"):
        with pytest.raises(rc.ValidationError, match=f"variable '{name}' is shared me"):
            module.global_(name)
    with pytest.raises(rc.ValidationError, match="no variable 'plane'"):
        module.global_("plane")


def test_a_traced_value_is_refused(module):
    with pytest.raises(
        rc.SignatureError, match="variable 'counter' is set to a traced"
    ):
        jax.jit(lambda x: module.global_("counter").set(x))(np.int32(3))
