"""Kernels on the CPU that never end, or ask for more than there is."""

from __future__ import annotations

import numpy as np
import pytest
from support.cpu_runner import compile_ptx, zeros
from support.process import run_python
from support.xla_runner import fault, run

GRIDS = {"one block": {}, "many blocks": {"grid": 5, "block": 64}}


@pytest.fixture
def short_limit(monkeypatch):
    monkeypatch.setenv("JAX_RAWCUDA_CPU_TIMEOUT", "0.3")


# Loops without an end

ENDLESS = {
    "plain": "while (out[1] == 0) { out[0] = out[0] * 3 + 1; }",
    "nested": """for (int i = 0; ; i = out[2])
            for (int j = 0; j < out[3] + 9; j++) out[0] += j ^ i;""",
    "counter that stands still": """int n = 0;
          for (int i = 0; i < 10; i += n) { out[0] += i; n = out[1]; }""",
    "counter that jumps over its bound": """unsigned n = out[1] + 1001;
          for (unsigned i = 0; i != n; i += 2) out[0] = out[0] * 5 + i;""",
    "in a device function": "do out[0] = twice(out); while (out[1] == 0);",
    "inside a device function": "out[0] = forever(out);",
    "between barriers": """__shared__ int s[64];
          s[threadIdx.x] = out[1];
          __syncthreads();
          while (s[63 - threadIdx.x] == 0) out[0] ^= threadIdx.x;""",
    "over barriers": """__shared__ int s;
          do {
            __syncthreads();
            if (threadIdx.x == 0) s = out[1];
            __syncthreads();
          } while (s == 0);""",
    "over barriers, apart": """__shared__ int s;
          do {
            if (threadIdx.x % 3) __syncthreads(); else __syncthreads();
            if (threadIdx.x == 0) s = out[1];
            __syncthreads();
          } while (s == 0);""",
    "spinning": "while (*(volatile int*)(out + 1) == 0) {}",
    "several entries": """int i = out[1];
          if (i) goto middle;
          top: out[0] += 7;
          middle: out[0] ^= i; i = out[1];
          if (i == 0) goto top; else goto middle;""",
}
FUNCTIONS = """
__device__ __noinline__ int twice(int* out) { return 2 * out[0]; }
__device__ __noinline__ int forever(int* out) {
  int n = 0;
  while (out[1] == 0) n = n * 3 + out[0]++;
  return n;
}
"""


def with_functions(body):
    return f'(int*);{FUNCTIONS} extern "C" __global__ void k(int* out) {{ {body} }}'


@pytest.mark.parametrize("geometry", GRIDS)
@pytest.mark.parametrize("name", ENDLESS)
def test_endless_loops_end(name, geometry, short_limit):
    geometry = {"block": 64, **GRIDS[geometry]}
    message = fault(with_functions(ENDLESS[name]), zeros(4), **geometry)
    place = "while all threads spin:" if name == "spinning" else "in"
    assert f"k: still running after 0.3 s {place} thread (" in message
    assert "), block (" in message
    assert "k.cu:" in message
    assert "If it would end, set JAX_RAWCUDA_CPU_TIMEOUT to more seconds." in message


def test_no_limit_by_default(monkeypatch):
    monkeypatch.delenv("JAX_RAWCUDA_CPU_TIMEOUT", raising=False)
    source = """(int* out) {
      unsigned n = 1;
      for (int i = 0; i < 200000000; i++) { n = n * 3 + out[0]; if (n == 0) break; }
      out[0] = n != 0;
    }"""
    (out,) = run(source, zeros(1) + 2, block=1)
    assert out.tolist() == [1]


def test_a_grid_of_blocks_without_number(short_limit):
    source = "(int* out) { if (blockIdx.x != 0) return; out[0] = 1; }"
    message = fault(source, zeros(1), grid=(2**31 - 1, 65535), block=1)
    assert "k: still running after 0.3 s" in message


# Ctrl-C

INTERRUPTED = """
    import os, signal, threading, time
    import jax, numpy as np
    from support.cpu_runner import compile_ptx, zeros
    from support.xla_runner import run

    # A shell ignores Ctrl-C for what it runs in the background, and so would we.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Timer({delay}, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    start = None
    try:
        {call}
    except KeyboardInterrupt:
        print("KeyboardInterrupt")
    (out,) = run("(int* out) {{ out[0] = 7; }}", zeros(1))
    print(out.tolist())
"""
SPIN = "(int* out) { int n = out[0]; while (n != 1) n = n * 4 + out[0]; out[0] = n; }"


@pytest.mark.parametrize("geometry", ["block=1", "block=64, grid=9"])
def test_control_c_stops_a_kernel(geometry):
    call = f"run({SPIN!r}, zeros(1), {geometry})"
    program = INTERRUPTED.format(delay=2, call=call)
    ended = run_python(program, JAX_RAWCUDA_CPU_TIMEOUT="60")
    assert ended.stdout.splitlines() == ["KeyboardInterrupt", "[7]"]


# Stack, local memory, heap


def test_recursion_without_an_end():
    source = """(int*);
      __device__ __noinline__ int depth(volatile int* p, int n) {
        return p[0] == 0 ? 1 + depth(p, n + p[1]) * 3 : n;
      }
      extern "C" __global__ void k(int* out) {
        out[threadIdx.x] = depth(out, threadIdx.x);
      }"""
    message = fault(source, zeros(32), grid=2, block=32)
    assert "k: device functions call each other too deeply in thread (" in message
    assert ", block (" in message
    assert "k.cu:2: the stack is full." in message


def test_recursion_through_pointers():
    source = """(int*);
      struct Visitor { __device__ virtual int visit(Visitor* next, int* p); };
      __device__ __noinline__ int Visitor::visit(Visitor* next, int* p) {
        p[1]++;
        return p[0] == 0 ? next->visit(this, p) + 1 : p[2];
      }
      extern "C" __global__ void k(int* out) {
        Visitor a, b;
        out[3] = (out[2] ? &a : &b)->visit(&b, out);
      }"""
    message = fault(source, zeros(4), block=1)
    assert "device functions call each other too deeply in thread (0,0,0)" in message


def test_recursion_with_an_end():
    source = """(int*);
      __device__ __noinline__ int fibonacci(int n) {
        return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
      }
      extern "C" __global__ void k(int* out) {
        out[threadIdx.x] = fibonacci(threadIdx.x);
      }"""
    (out,) = run(source, zeros(20), block=20)
    expected = [0, 1]
    while len(expected) < 20:
        expected.append(expected[-1] + expected[-2])
    assert out.tolist() == expected


def test_recursion_that_takes_forever(short_limit):
    source = """(int*);
      __device__ __noinline__ int fibonacci(int n) {
        return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
      }
      extern "C" __global__ void k(int* out) { out[0] = fibonacci(90 + out[0]); }"""
    assert "k: still running after 0.3 s in thread (" in fault(source, zeros(1))


LOCAL_ARRAY = """(int* out) {{
  int a[{size}];
  for (int i = 0; i < {size}; i++) a[i] = out[i & 31] + i;
  __syncwarp();
  out[threadIdx.x] = a[(out[threadIdx.x] * 977 + threadIdx.x) % {size}];
}}"""


@pytest.mark.parametrize("depth", [2, 60])
def test_calls_without_number(depth, short_limit):
    """Each function calls the next one twice: neither loops nor recursion."""
    functions = "__device__ __noinline__ int f0(int x) { return x * 3 + 1; }\n"
    for i in range(1, depth):
        inner = f"f{i - 1}(x + 7) ^ f{i - 1}(x + 1)"
        functions += f"__device__ __noinline__ int f{i}(int x) {{ return {inner}; }}\n"
    call = f"out[threadIdx.x] = f{depth - 1}(threadIdx.x);"
    source = f'(int*);{functions} extern "C" __global__ void k(int* out) {{ {call} }}'
    if depth < 60:
        t = np.arange(64)
        (out,) = run(source, zeros(64), block=64)
        np.testing.assert_array_equal(out, (3 * t + 22) ^ (3 * t + 4))
    else:
        assert "k: still running after 0.3 s" in fault(source, zeros(64), block=64)


@pytest.mark.parametrize("size", [100, 20_000, 131_000])
def test_local_arrays(size):
    source = LOCAL_ARRAY.format(size=size)
    for text in (source, source.replace("__syncwarp();", "")):
        (out,) = run(text, zeros(32))
        np.testing.assert_array_equal(out, np.arange(32))


def test_local_arrays_that_are_too_large():
    from jax_rawcuda import UnsupportedError
    from jax_rawcuda.cpu.jit import load_kernel

    text = compile_ptx(LOCAL_ARRAY.format(size=140_000))
    match = "k: 560000 bytes for local variables per thread in k; the limit is 524288"
    with pytest.raises(UnsupportedError, match=match):
        load_kernel(text, "k")


# Arithmetic that traps on the host


def test_integer_arithmetic_never_stops_the_process():
    values = np.int32([0, 1, -1, 5, -(2**31), 2**31 - 1])
    a, b = (np.ascontiguousarray(x.ravel()) for x in np.meshgrid(values, values))
    source = """(int* a, int* b, int* quotient, int* rest, int* wide) {
      int i = threadIdx.x;
      quotient[i] = a[i] / b[i];
      rest[i] = a[i] % b[i];
      unsigned u = (unsigned)a[i] / (unsigned)b[i] + (unsigned)a[i] % (unsigned)b[i];
      long long x = (long long)a[i] << 32, y = (long long)b[i] >> 31;
      ((long long*)wide)[i] = x / y + x % y + u;
    }"""
    results = [zeros(36), zeros(36), zeros(72)]
    _, _, quotient, rest, _ = run(source, a, b, *results, block=36)
    usual = (b != 0) & ~((a == -(2**31)) & (b == -1))
    expected = np.trunc(a[usual].astype(float) / b[usual])
    np.testing.assert_array_equal(quotient[usual], expected)
    np.testing.assert_array_equal(rest[usual], a[usual] - expected * b[usual])


def test_shifts_over_the_width():
    (out,) = run(
        """(int* out) {
          int x = out[0], n = out[1];
          asm("shl.b32 %0, %1, %2;" : "=r"(out[2]) : "r"(x), "r"(n));
          asm("shr.s32 %0, %1, %2;" : "=r"(out[3]) : "r"(x), "r"(n));
          asm("shr.u32 %0, %1, %2;" : "=r"(out[4]) : "r"(x), "r"(n));
        }""",
        np.int32([-5, 40, 1, 1, 1]),
        block=1,
    )
    assert out.tolist() == [-5, 40, 0, -1, 0]
