"""Checked kernels with addresses in the first values of their variables."""

from __future__ import annotations

import jax
import numpy as np
import pytest

import jax_rawcuda as rc

N = 100
LANE = np.arange(N)
TABLES = {
    "constant": (
        "__constant__ int table[4] = {1, 2, 3, 4}; __device__ const int* p = table;",
        "p[i & 3]",
        1 + (LANE & 3),
    ),
    "device": (
        "__device__ int table[4] = {1, 2, 3, 4}; __constant__ int* p = table + 1;",
        "p[i % 3]",
        2 + LANE % 3,
    ),
    "pointers": (
        "__device__ int a[2] = {1, 2}, b[2] = {3, 4}; __device__ int* p[2] = {a, b};",
        "p[i & 1][(i >> 1) & 1]",
        1 + 2 * (LANE & 1) + ((LANE >> 1) & 1),
    ),
    "pointers to pointers": (
        "__device__ int a[2] = {1, 2}; __device__ int* p[2] = {a, a + 1};"
        "__device__ int** q = p;",
        "*q[i & 1]",
        1 + (LANE & 1),
    ),
    "texts": (
        '__device__ const char* names[3] = {"abc", "de", "f"};',
        "names[i % 3][0]",
        97 + np.array([0, 3, 5])[LANE % 3],
    ),
    "struct": (
        "__device__ int a[3] = {5, 6, 7};"
        "struct List { const int* p; int n; }; __constant__ List list = {a, 3};",
        "list.p[i % list.n]",
        5 + LANE % 3,
    ),
}


def kernel(declarations, value):
    return rc.kernel(
        f"""{declarations}
        __global__ void k(int* out, int n) {{
          int i = blockIdx.x * blockDim.x + threadIdx.x;
          if (i < n) out[i] = {value};
        }}""",
        shapes=f"-> {N}",
        threads=N,
        block=64,
    )


@pytest.fixture(autouse=True)
def checked_on_the_cpu():
    with jax.default_device(jax.devices("cpu")[0]), rc.checking():
        yield


@pytest.mark.parametrize("name", TABLES)
def test_what_first_values_point_to_is_known(name):
    declarations, value, expected = TABLES[name]
    np.testing.assert_array_equal(kernel(declarations, value)(n=N), expected)


BEYOND = {
    "constant": ("table", "p[i % 5]"),
    "pointers": ("[ab]", "p[i & 1][i % 3]"),
    "struct": ("a", "list.p[i % (list.n + 1)]"),
    "texts": (r"_\$_str2", "names[i % 3][i % 5]"),
}


@pytest.mark.parametrize("name", BEYOND)
def test_reads_beyond_what_a_first_value_points_to(name):
    declarations, (variable, beyond) = TABLES[name][0], BEYOND[name]
    with pytest.raises(rc.CheckError, match=rf"variable '{variable}' .*out of bounds"):
        kernel(declarations, beyond)(n=N)
