"""malloc and free inside kernels: what a kernel that misuses them cannot do."""

from __future__ import annotations

import numpy as np
import pytest
from support.cpu_runner import run, zeros
from support.process import run_python

from jax_rawcuda._base.errors import RawCudaError


def damage(size, begin, end):
    return f"""(int* out) {{
      volatile char* p = (char*)malloc({size});
      for (int i = {begin}; i < {end}; i++) p[i] = 0xff;
      free((void*)p);
      volatile char* q = (char*)malloc({size});
      q[0] = 1;
      q[{size} - 1] = 2;
      out[threadIdx.x] = q[0] + q[{size} - 1];
      free((void*)q);
    }}"""


@pytest.mark.parametrize("size", [1, 64, 5000])
@pytest.mark.parametrize(("begin", "end"), [(-64, 0), (-8, 1), (0, 9000)])
def test_writes_beside_blocks_leave_the_heap_alone(size, begin, end):
    for _ in range(3):
        (out,) = run(damage(size, begin, end), zeros(1), block=1)
        assert out.tolist() == [3 if size > 1 else 4]
        run("(int* out) { *(void**)out = malloc(20000); }", zeros(2), block=1)


WRONG = {
    "0x10": "free((void*)0x10ull);",
    "0x": "free(out);",
    "0x[0-9a-f]*1": "char* volatile p = (char*)malloc(64); free(p + 1);",
    "0x[0-9a-f]+": "void* volatile p = malloc(64); free(p); free(p);",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_freed_is_an_error(name):
    match = (
        rf"k: free of {name}.*, which malloc has not returned or which is free "
        r"already, by thread \(0,0,0\), block \(0,0,0\)\. Call it under rc\."
    )
    with pytest.raises(RawCudaError, match=match):
        run(f"(int* out) {{ {WRONG[name]} out[0] = 1; }}", zeros(1), block=1)
    (out,) = run("(int* out) { free(nullptr); out[0] = 5; }", zeros(1), block=1)
    assert out.tolist() == [5]


def test_blocks_do_not_overlap_and_all_memory_comes_back(rng):
    source = """(const int* sizes, int* out, int* largest) {
      const int n = 40;
      volatile int* blocks[n];
      for (int round = 0; round < 20; round++) {
        for (int i = 0; i < n; i++) {
          int size = sizes[(i + round) % n];
          blocks[i] = (int*)malloc(4 * size);
          for (int j = 0; j < size; j++) blocks[i][j] = threadIdx.x * 1000 + i;
        }
        for (int k = 0; k < n; k++) {
          int i = (k * 7 + round) % n;  // in another order
          int size = sizes[(i + round) % n], sum = 0;
          for (int j = 0; j < size; j++) sum += blocks[i][j] == threadIdx.x * 1000 + i;
          out[threadIdx.x] += sum == size && (size_t)blocks[i] % 16 == 0;
          free((void*)blocks[i]);
        }
      }
      void* all = malloc(4 << 20);
      free(all);
      *largest = all != nullptr;
    }"""
    sizes = rng.integers(1, 100, 40).astype(np.int32)
    *_, out, largest = run(source, sizes, zeros(64), zeros(1), block=64)
    np.testing.assert_array_equal(out, 800)
    assert largest.tolist() == [1]


# What a launch leaves behind

MOST = """(int* out, const int* keep) {
  void* blocks[64];
  int n = 0;
  while (n < 64 && (blocks[n] = malloc(300000))) n++;
  out[threadIdx.x] = n;
  %s
  if (!*keep) for (int i = 0; i < n; i++) free(blocks[i]);
  *(void**)(out + 2) = malloc(1ull << 62);
}"""
FAILURES = {
    "trap": "if (*keep) __trap();",
    "wild pointer": "if (*keep) *(volatile int*)48 = 1;",
    "wrong free": "if (*keep) free(out);",
    "assert": "assert(!*keep);",
    "endless loop": "while (*(volatile const int*)keep) {}",
}


def most(failure="", keep=0):
    """How many of 64 blocks of 300 kB the heap has room for."""
    out, _ = run(MOST % failure, zeros(4), zeros(1) + keep, block=1)
    assert out[2:].tolist() == [0, 0]
    return out[0]


@pytest.mark.parametrize("name", FAILURES)
def test_a_launch_that_fails_frees_what_it_allocated(name, monkeypatch):
    monkeypatch.setenv("JAX_RAWCUDA_CPU_TIMEOUT", "0.3")
    before = most(FAILURES[name])
    with pytest.raises(RawCudaError):
        most(FAILURES[name], keep=1)
    assert 0 < most(FAILURES[name]) == before


def test_a_launch_that_fails_frees_nothing_of_others():
    keep = "(long* out) { long* p = (long*)malloc(64); *p = 77; *out = (long)p; }"
    (address,) = run(keep, zeros(2), block=1)
    with pytest.raises(RawCudaError, match="trap"):
        run("(long* out) { *out = (long)malloc(64); __trap(); }", address, block=1)
    use = "(long* out) { long* p = (long*)*out; *out = *p + 1; free(p); }"
    (value,) = run(use, address, block=1)
    assert value[0] == 78


def test_blocks_that_nobody_frees_fill_the_heap():
    """A compiler may not take away what can fail; in a process of its own."""
    program = """
        from support.cpu_runner import run, zeros

        leak = "(int* out) { while (malloc(1 << 16) != nullptr) ++*out; }"
        print(*(run(leak, zeros(1), block=1)[0][0] for _ in range(2)))
    """
    assert run_python(program).stdout.split() == [str((8 << 20) >> 16), "0"]
