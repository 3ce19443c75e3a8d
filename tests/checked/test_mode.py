"""Checked mode as a mode: where it reaches, what it costs when it is off."""

from __future__ import annotations

import pickle
import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support.cpu_runner import compile_ptx
from support.process import run_python

import jax_rawcuda as rc
from jax_rawcuda._base.checked_mode import enabled
from jax_rawcuda.cpu.translate import translate

SOURCE = r"""
extern "C" __global__ void shift(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = i + 1 < n ? x[i + 1] : x[n + SPARE];
}
"""
FAULT = "argument 'x' \\(float32\\[8\\]\\): out of bounds read of 4 bytes"


@pytest.fixture(autouse=True)
def on_the_cpu():
    with jax.default_device(jax.devices("cpu")[0]):
        yield


def shift(spare=0):
    source = SOURCE.replace("SPARE", str(spare))
    return rc.kernel(source, shapes="n -> n", threads="n", block=32)


@pytest.fixture
def x():
    return jnp.arange(8, dtype=jnp.float32)


def test_an_eager_call_raises_at_once(x):
    with rc.checking(), pytest.raises(rc.CheckError, match=FAULT):
        shift()(x)


def test_a_jitted_call_raises_what_xla_raises(x):
    with rc.checking(), pytest.raises(jax.errors.JaxRuntimeError, match=FAULT):
        jax.block_until_ready(jax.jit(shift())(x))
    with pytest.raises(rc.CheckError, match=FAULT), rc.checking():
        jax.block_until_ready(jax.jit(shift())(x))


def test_a_call_that_fails_after_it_has_succeeded(x):
    # JAX reports a repeated call's error in another way than the first one's.
    table = rc.kernel(
        """__global__ void look(const float* x, const int* at, float* y, int n) {
          if (threadIdx.x < n) y[threadIdx.x] = x[at[threadIdx.x]];
        }""",
        shapes="m, n -> n",
        threads="n",
        block=32,
    )
    good, bad = jnp.arange(8), jnp.full(8, 8)
    for call in (table, jax.jit(table)):
        for _ in range(3):
            with rc.checking():
                np.testing.assert_array_equal(call(x, good), x)
        with pytest.raises(rc.CheckError, match=FAULT), rc.checking():
            jax.block_until_ready(call(x, bad))


def test_shared_variables_that_the_compiler_splits(x):
    # Parts with constant places become variables of their own, with names of its own.
    centred = rc.kernel(
        """__global__ void centre(const float* x, float* y, int n) {
          __shared__ struct { float mean, scale; } s;
          __shared__ float total[32];
          if (threadIdx.x == 0) {
            total[0] = x[5];
            s.mean = x[1];
            s.scale = 2;
          }
          __syncthreads();
          if (threadIdx.x < n)
            y[threadIdx.x] = (x[threadIdx.x] - s.mean) * s.scale / total[0];
        }""",
        shapes="n -> n",
        threads="n",
        block=32,
    )
    with rc.checking():
        np.testing.assert_allclose(centred(x), (x - 1) * 2 / 5, rtol=1e-6)


def test_a_jitted_function_is_compiled_anew_for_the_mode(x):
    traces = []

    @jax.jit
    def outer(x):
        traces.append(enabled())
        return inner(x) + 1

    kernel = shift()
    inner = jax.jit(lambda x: kernel(x))
    assert outer(x).shape == (8,)
    with pytest.raises(rc.CheckError, match=FAULT), rc.checking():
        jax.block_until_ready(outer(x))
    assert outer(x).shape == (8,)
    with pytest.raises(rc.CheckError, match=FAULT), rc.checking():
        jax.block_until_ready(outer(x))
    assert traces == [False, True]


def test_an_eager_kernel_remembers_both_plans(x):
    kernel = shift()
    assert kernel(x).shape == (8,)
    with rc.checking(), pytest.raises(rc.CheckError):
        kernel(x)
    assert kernel(x).shape == (8,)


def test_inside_of_loops(x):
    @jax.jit
    def twice(x):
        return jax.lax.fori_loop(0, 2, lambda _, x: kernel(x), x)

    kernel = shift()
    with pytest.raises(rc.CheckError, match=FAULT), rc.checking():
        jax.block_until_ready(twice(x))


def test_the_mode_nests_and_belongs_to_a_thread():
    seen = []
    with rc.checking():
        with rc.checking():
            assert enabled()
        assert enabled()
        other = threading.Thread(target=lambda: seen.append(enabled()))
        other.start()
        other.join()
    assert seen == [False]
    assert not enabled()


def test_the_environment_variable(x, monkeypatch):
    monkeypatch.setenv("JAX_RAWCUDA_CHECK", "1")
    with pytest.raises(rc.CheckError, match=FAULT):
        shift()(x)
    monkeypatch.setenv("JAX_RAWCUDA_CHECK", "0")
    assert shift()(x).shape == (8,)
    monkeypatch.setenv("JAX_RAWCUDA_CHECK", "yes")
    with pytest.raises(rc.ValidationError, match="JAX_RAWCUDA_CHECK='yes': 0 or 1 is"):
        shift()(x)


def test_other_errors_pass_through_the_mode():
    with pytest.raises(ZeroDivisionError), rc.checking():
        raise ZeroDivisionError


def test_the_error_is_a_backend_error_that_pickles(x):
    with rc.checking(), pytest.raises(rc.CheckError) as caught:
        shift()(x)
    assert isinstance(caught.value, rc.BackendError)
    assert isinstance(caught.value.__cause__, jax.errors.JaxRuntimeError)
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is rc.CheckError
    assert str(again) == str(caught.value)


def test_a_buffer_passed_twice_is_named_after_the_first_parameter():
    source = r"""
    extern "C" __global__ void add(const float* a, const float* b, float* y, int n) {
      int i = threadIdx.x;
      y[i] = a[i] + b[i + n];
    }"""
    module = rc.compile_nvrtc(source)

    @rc.op
    def double(s, x):
        y = s.alloc_output(x.shape, x.dtype)
        s.launch(module.function("add"), rc.LaunchConfig(1, 8), x, x, y, x.size)
        return y

    text = "argument 'a' \\(float32\\[8\\], 'x'\\): out of bounds read"
    with rc.checking(), pytest.raises(rc.CheckError, match=text):
        double(np.ones(8, np.float32))


def test_an_exported_program_keeps_its_checks(x):
    with rc.checking():
        exported = jax.export.export(
            jax.jit(shift()), disabled_checks=rc.export_safety_checks()
        )(x)
    again = jax.export.deserialize(exported.serialize())
    with pytest.raises(jax.errors.JaxRuntimeError, match=FAULT):
        jax.block_until_ready(again.call(x))


SPIN = """(float* out, const float* x, volatile int* flag) {
  __shared__ float a[32], b[32];
  int local[4] = {};
  local[threadIdx.x & 3] = 1;
  a[threadIdx.x] = x[threadIdx.x];
  b[threadIdx.x] = local[(int)x[0] & 3];
  while (flag[0] == 0) {
    if (flag[1]) break;
    while (flag[2] == flag[3]) continue;
  }
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&out[1], __shfl_xor_sync(0xffff, b[3], 1));
  __threadfence_block();
  out[threadIdx.x] = a[31 - threadIdx.x] + b[threadIdx.x ^ 1];
}"""


def test_code_without_checks_is_as_it_was(monkeypatch):
    ptx = compile_ptx(SPIN)
    plain, checked = translate(ptx, "k"), translate(ptx, "k", checked=True)
    assert "jrc_check" not in plain.ir
    assert plain.checks is None
    assert plain.shared_bytes == 256
    assert checked.ir.count("call i1 @jrc_check_access") > 0
    assert [v.name for v in checked.checks.shared] == ["a", "b"]

    def never(*_):
        raise AssertionError("unchecked code meets the checks")

    for name in ("guard", "untagged", "Site", "fence"):
        monkeypatch.setattr(f"jax_rawcuda.cpu.emit.guards.{name}", never)
    for name in ("access_facts", "check_table"):
        monkeypatch.setattr(f"jax_rawcuda.cpu.translate.{name}", never)
    assert translate(ptx, "k") == plain


def test_code_is_the_same_in_every_process(tmp_path):
    # The compiled code is cached on disk, by the text that it is compiled from.
    path = tmp_path / "k.ptx"
    path.write_text(compile_ptx(SPIN))
    program = """
      import hashlib, pathlib, sys
      from jax_rawcuda.cpu.translate import translate
      text = pathlib.Path(sys.argv[1]).read_text()
      print(hashlib.sha256(repr(translate(text, "k")).encode()).hexdigest())"""
    found = {run_python(program, path, PYTHONHASHSEED=seed).stdout for seed in "123"}
    assert len(found) == 1


def test_accesses_are_checked_one_by_one():
    ptx = compile_ptx(
        """(float* out, const float* x) {
          __shared__ float a[32];
          a[threadIdx.x] = x[threadIdx.x];
          __syncthreads();
          out[threadIdx.x] = a[31 - threadIdx.x];
        }"""
    )
    plain, checked = translate(ptx, "k"), translate(ptx, "k", checked=True)
    assert "llvm.access.group" in plain.ir
    assert checked.ir.count("call i1 @jrc_check_access") == len(checked.sites) == 4
