"""Variables of a module that cannot be set, values that do not fit: what is said."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from module.test_globals import SOURCE, TAPS
from support.ptx_module import HEADER
from support.refusals import Row, table

import jax_rawcuda as rc
from jax_rawcuda import SignatureError, ValidationError

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
PTX = f"""{HEADER}
.global .align 4 .u32 plain; .extern .shared .align 16 .b8 bytes[];
.visible .entry k() {{ .shared .align 4 .b8 tile[64]; ret; }}"""


def variable(name):
    return lambda module: module.global_(name)


def value(name, given):
    return lambda module: module.global_(name).set(given)


@pytest.fixture(scope="module")
def module():
    return rc.compile_nvrtc(SOURCE)


@pytest.fixture(params=["nvrtc", "clang"])
def compile_(request):
    """Compiles a text, with either compiler reading its declarations."""
    if request.param == "clang":
        request.getfixturevalue("no_nvrtc")
    return lambda text: rc.compile_nvrtc(text + f"// {request.param}")


NAMES = [
    Row(
        "nearly a name",
        variable("gian"),
        ValidationError,
        "filter: no variable 'gian'. Did you mean 'ns::gain'? Variables in the "
        "source: address, callback, corners, counter, fixed, flip, ns::gain, "
        "ns::taps, offsets, pair.",
    ),
    Row(
        "no name",
        variable("nothing"),
        ValidationError,
        "filter: no variable 'nothing'. Variables in the source: address, callback, "
        "corners, counter, fixed, flip, ns::gain, ns::taps, offsets, pair.",
    ),
    Row(
        "a constant that is used up",
        variable("fixed"),
        ValidationError,
        "filter: variable 'fixed' is `const float [2]`: the compiler has used its "
        "value already. Declare it without const.",
    ),
    Row(
        "an address",
        variable("address"),
        ValidationError,
        "filter: variable 'address' holds an address, which is known only on the "
        "device. Set it in a kernel.",
    ),
    Row(
        "the address of a function",
        variable("callback"),
        ValidationError,
        "filter: variable 'callback' holds an address, which is known only on the "
        "device. Set it in a kernel.",
    ),
]
VALUES = [
    Row(
        "float64 for floats",
        value("ns::taps", TAPS.astype(np.float64)),
        SignatureError,
        "filter: variable 'ns::taps' is `float [2][4]`, given float64[2,4]. Cast it "
        'with .astype("float32").',
    ),
    Row(
        "another shape",
        value("ns::taps", TAPS.T),
        ValidationError,
        "filter: variable 'ns::taps' is `float [2][4]`, given float32[4,2]; shape "
        "(2, 4) or (8,) is needed. Reshape it.",
    ),
    Row(
        "too few elements",
        value("offsets", np.zeros(7, np.int16)),
        ValidationError,
        "filter: variable 'offsets' is `short [8]`, given int16[7]; shape (8,) is "
        "needed. Reshape it.",
    ),
    Row(
        "a number for an array",
        value("offsets", 3),
        SignatureError,
        "filter: variable 'offsets' is `short [8]`, given a single number. Give an "
        "array of 16 bytes.",
    ),
    Row(
        "too few bytes",
        value("pair", b"123"),
        ValidationError,
        "filter: variable 'pair' has 16 bytes; the value has 3. Give as many.",
    ),
    Row(
        "a large number",
        value("ns::gain", 1e99),
        ValidationError,
        "filter: variable 'ns::gain'=1e+99 overflows `float`, whose largest value "
        "is 3.4028234663852886e+38.",
    ),
    Row(
        "half of an int",
        value("counter", 1.5),
        ValidationError,
        "filter: variable 'counter'=1.5 is not an integer, but the parameter is "
        "`int`. Convert it with int().",
    ),
    Row(
        "a text",
        value("counter", "text"),
        SignatureError,
        "filter: variable 'counter' is `int`, given str. Give a NumPy array.",
    ),
    Row(
        "an object",
        value("counter", object()),
        SignatureError,
        "filter: variable 'counter' is `int`, given object. Give a NumPy array.",
    ),
    Row(
        "foreign byte order",
        value("pair", np.array([1.5, 2.0], ">f4")),
        SignatureError,
        "filter: variable 'pair' is of foreign byte order (>f4). Convert it with "
        ".astype(dtype.newbyteorder('=')).",
    ),
    Row(
        "a traced number",
        lambda m: jax.jit(lambda x: m.global_("counter").set(x))(np.int32(3)),
        SignatureError,
        "filter: variable 'counter' is set to a traced array, but its value is part "
        "of the program. Pass the array to the kernel through a pointer.",
    ),
]


@table(NAMES + VALUES)
def test_a_variable_or_its_value_is_refused(row, module):
    row.check(module)


ODD_NAMES = [
    *(
        Row(
            name,
            variable(name),
            ValidationError,
            f"count: variable '{name}' has a type without a name, which the compiler "
            "cannot spell. Name it: `struct Name {...};`.",
        )
        for name in ("record", "either", "state", "settled")
    ),
    *(
        Row(
            name,
            variable(name),
            ValidationError,
            f"count: variable '{name}' is local to `count(int*)`, where no name "
            "reaches it. Declare it outside of the function.",
        )
        for scope in ("", "count::", "count(int*)::")
        for name in (f"{scope}calls", f"{scope}twice")
    ),
    Row(
        "a number for an enum",
        value("color", 7),
        SignatureError,
        "count: variable 'color' is `Color`, given a single number. Give "
        "np.int32(...) for an enum, a NumPy record for a struct.",
    ),
    Row(
        "a number for a wide enum",
        value("wide", 7),
        SignatureError,
        "count: variable 'wide' is `Wide`, given a single number. Give "
        "np.int64(...) for an enum, a NumPy record for a struct.",
    ),
    Row(
        "a number for a struct of 8 bytes",
        value("pair", 7),
        SignatureError,
        "count: variable 'pair' is `Pair`, given a single number. Give "
        "np.int64(...) for an enum, a NumPy record for a struct.",
    ),
    Row(
        "a number for a struct of 12 bytes",
        value("triple", 7),
        SignatureError,
        "count: variable 'triple' is `Triple`, given a single number. Give an array "
        "of 12 bytes.",
    ),
]


@table(ODD_NAMES)
def test_an_odd_variable_is_refused(row, compile_):
    row.check(compile_(ODD))


def test_what_no_name_reaches_is_not_offered(compile_):
    with pytest.raises(ValidationError) as caught:
        compile_(ODD).global_("cals")
    assert str(caught.value).startswith("count: no variable 'cals'. Variables in the ")
    assert "::calls" not in str(caught.value)


def test_enums_are_numbers(compile_):
    odd = compile_(ODD)
    changed = odd.global_("color").set(np.int32(7)).global_("wide").set(np.int64(9))
    base = odd.global_("pair").set(np.int32([0, 100])).global_("color").set(np.int32(0))
    results = []
    for module in (base, changed):
        contract = {"out": np.zeros(1, np.int32), "fill": 0, "threads": 1, "block": 1}
        kernel = rc.kernel(module, "count", **contract)
        results.append(int(kernel()[0]))
    assert results == [3 + 1 + 100, 3 + 1 + 7 + 9]


def shared(kernel, name):
    return Row(
        f"{kernel} {name}",
        variable(name),
        ValidationError,
        f"{kernel}: variable '{name}' is shared memory, of which each block has its "
        "own. Fill it in the kernel, or declare it __device__ or __constant__.",
    )


@table([shared("sized", name) for name in ("tile", "other", "ns::common", "bytes")])
def test_shared_memory_is_refused(row, compile_):
    row.check(compile_(SHARED))


PTX_NAMES = [
    *(shared("load_ptx", name) for name in ("bytes", "tile")),
    Row(
        "nearly a name",
        variable("plane"),
        ValidationError,
        "load_ptx: no variable 'plane'. Did you mean 'plain'? Variables in the source: "
        "plain.",
    ),
]


@table(PTX_NAMES)
def test_a_variable_of_ptx_is_refused(row):
    row.check(rc.load_ptx(PTX))
