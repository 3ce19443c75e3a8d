"""Kernels are functions to Python: their signatures, copies and pickles."""

from __future__ import annotations

import copy
import functools
import inspect
import os
import pickle
import re
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support.process import run_python

import jax_rawcuda as rc

KEYWORDS = """
__global__ void power(const float* in, float lambda, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = lambda * in[i];
}"""
SAXPY = """
template <typename T>
__global__ void saxpy(const T* x, const T* y, T a, T* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a * x[i] + y[i];
}"""
power = rc.kernel(KEYWORDS, shapes="n -> n", threads="n")


@pytest.fixture
def x(default_device, rng):
    return rng.standard_normal(9).astype(np.float32)


def signature_of(source, **how):
    how.setdefault("shapes", "n -> n")
    return str(inspect.signature(rc.kernel(source, threads="n", **how)))


def test_parameters_that_are_keywords_of_python(x):
    assert str(inspect.signature(power)) == "(in_, lambda_, *dimensions, **named)"
    np.testing.assert_array_equal(power(x, 3.0), 3 * x)
    np.testing.assert_array_equal(power(in_=x, lambda_=3.0), 3 * x)
    np.testing.assert_array_equal(power(**{"in": x, "lambda": 3.0}), 3 * x)
    donated = jax.jit(power, donate_argnames="in_", static_argnums=1)
    np.testing.assert_array_equal(donated(jnp.asarray(x), 3.0), 3 * x)


def test_a_keyword_and_the_name_it_would_get(x):
    source = """
    __global__ void both(const float* in, const float* in_, float* out, int n) {
      int i = threadIdx.x;
      if (i < n) out[i] = in[i] - in_[i];
    }"""
    both = rc.kernel(source, shapes="n, n -> n", threads="n")
    assert str(inspect.signature(both)) == "(in__, in_, *dimensions, **named)"
    np.testing.assert_array_equal(both(in__=2 * x, in_=x), 2 * x - x)


def test_parameters_that_the_signature_itself_uses():
    source = "__global__ void k(const float* dimensions, float named, float* out) {}"
    assert signature_of(source, shapes="n -> n") == "(dimensions, named)"
    source = source.replace(")", ", int n)")
    assert signature_of(source) == "(dimensions, named, *dimensions_, **named_)"


def test_a_template():
    def types(x, *_others):
        return x.dtype

    same_as_compiled = "(x, y, a, *dimensions, **named)"
    assert signature_of(SAXPY, shapes="n, n -> n", template=types) == same_as_compiled
    hidden = "using In = const float*; template <typename T> "
    hidden += "__global__ void k(In x, T* out, int n) {}"
    assert signature_of(hidden, template=types) == "(*args, **keywords)"
    hidden = hidden.replace("int n", "int bins")
    how = {"template": types, "shapes": "n -> bins lanes"}
    assert signature_of(hidden, **how) == "(*args, bins, lanes, **keywords)"


def test_a_mistake_in_the_declaration_is_not_for_the_signature():
    assert signature_of(KEYWORDS, in_out="in") == "(*args, **keywords)"


def test_partial(x):
    triple = functools.partial(power, **{"lambda": 3.0})
    np.testing.assert_array_equal(triple(x), 3 * x)
    np.testing.assert_array_equal(jax.jit(triple)(x), 3 * x)
    np.testing.assert_array_equal(functools.partial(power, x)(2.0), 2 * x)


def test_pickles_by_name():
    assert pickle.loads(pickle.dumps(power)) is power
    assert copy.copy(power) is power
    assert copy.deepcopy({"layer": [power]})["layer"] == [power]


def test_a_process_that_imports_the_module_finds_it(tmp_path):
    module = tmp_path / "my_kernels.py"
    module.write_text(
        "import jax_rawcuda as rc\n"
        f"scaled = rc.kernel({KEYWORDS!r}, shapes='n -> n', threads='n')\n"
    )
    dump = "import pickle, my_kernels; print(pickle.dumps(my_kernels.scaled).hex())"
    path = {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    written = run_python(dump, **path).stdout.strip()
    load = """
    import pickle, sys, numpy as np
    scaled = pickle.loads(bytes.fromhex(sys.argv[1]))
    print(scaled.__module__, scaled(np.ones(2, np.float32), 3.0))
    """
    found = run_python(load, written, **path).stdout
    assert found.strip() == "my_kernels [3. 3.]"


def test_what_no_module_names_does_not_pickle():
    local = rc.kernel(SAXPY, shapes="n, n -> n", threads="n", template="float")
    text = (
        "saxpy: it is pickled by name, as functions are, and no module has it as a "
        "variable. Assign it at the top level of a module."
    )
    with pytest.raises(pickle.PicklingError, match=re.escape(text)):
        pickle.dumps(local)
    assert copy.deepcopy(local) is local
