"""Kernels on the CPU whose pointers lead nowhere: an error, and the process goes on."""

from __future__ import annotations

import os
import signal
from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support.cpu_runner import zeros
from support.process import run_python
from support.xla_runner import fault, run

import jax_rawcuda as rc

ADVICE = " Call it under rc.checking() to see thread, source line and argument."
FILL = "(int* out) { out[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x; }"


def check_that_all_is_well(times=1):
    for _ in range(times):
        (out,) = run(FILL, zeros(32 * 20), grid=20)
        np.testing.assert_array_equal(out, np.tile(np.arange(32), 20))


# `at` is an address that clang does not know: out[0] is 0.
WILD = {
    "a read": "out[1] = *(int*)at;",
    "a write": "*(int*)at = 1;",
    "a vector": "*(int4*)at = make_int4(1, 2, 3, 4);",
    "a read in a loop": "for (int i = 0; i < 100; i++) out[i & 7] += ((int*)at)[i];",
    "a copy": "memcpy(out, (void*)at, 128);",
    "a fill": "memset((void*)at, 1, 1000);",
    "an atomic": "atomicAdd((int*)at, 1);",
    "a compare-and-swap": "atomicCAS((int*)at, 1, 2);",
    "a half atomic": """asm volatile("{.reg .b16 r; atom.add.noftz.f16 r, [%0], %1;}"
        :: "l"(at), "h"((short)0) : "memory");""",
    "a text to print": 'printf("%s", (char*)at);',
    "a part of a text": 'printf("%.2s", (char*)at);',
    "a format": "printf((char*)at, 1);",
    "arguments of printf": 'vprintf("%d", (void*)at);',
    "a matrix": """int r; asm volatile("ldmatrix.sync.aligned.m8n8.x1.b16 {%0}, [%1];"
        : "=r"(r) : "l"(at)); out[1] = r;""",
    "an asynchronous copy": """__shared__ __align__(16) int s[4];
        asm volatile("cp.async.ca.shared.global [%0], [%1], 16;"
        :: "r"((unsigned)__cvta_generic_to_shared(s)), "l"(at) : "memory");
        out[1] = s[0];""",
    "a barrier in memory": """asm volatile("mbarrier.init.b64 [%0], 1;"
        :: "l"(at) : "memory");""",
    "in a device function": "deep((int*)at, 3);",
    "after a barrier": "__syncthreads(); *(int*)at = 1;",
    "in one thread": "__syncthreads(); if (threadIdx.x == 9) *(int*)at = 1;",
}
DEEP = """
extern "C" __device__ int vprintf(const char*, void*);
__device__ __noinline__ void deep(int* p, int n) { if (n) deep(p, n - 1); else *p = n; }
"""


def wild(body, address):
    return f"""(int*);{DEEP}
      extern "C" __global__ void k(int* out) {{
        unsigned long long at = out[0] + {address}ull;
        {body}
      }}"""


@pytest.mark.parametrize("geometry", [{}, {"grid": 50, "block": 64}], ids=["1", "50"])
@pytest.mark.parametrize("name", WILD)
def test_wild_pointers(name, geometry):
    message = fault(wild(WILD[name], "0x30"), zeros(64), **geometry)
    assert "k: illegal memory access at address 0x3" in message
    assert " in block (" in message
    assert message.endswith(ADVICE)
    assert ("after k.cu:" in message) == ("syncthreads" in WILD[name])
    check_that_all_is_well()


def test_addresses_that_cannot_be():
    address = "0xdeadbeefdeadbee0"
    for name in ("a write", "a text to print"):
        message = fault(wild(WILD[name], address), zeros(64))
        where = "address 0x" if os.uname().machine != "x86_64" else "an address that no"
        assert f"k: illegal memory access at {where}" in message


def test_the_barrier_before_is_named():
    source = """(int* out) {
      __syncthreads();
      if (threadIdx.x == 3) *(int*)(out[0] + 64ll) = 1;
    }"""
    message = fault(source, zeros(32), grid=(1, 1))
    assert "at address 0x40 in block (0,0,0) after k.cu:2: bar.sync 0." in message


def test_the_process_goes_on():
    for _ in range(5):
        fault(wild(WILD["a write"], "0x30"), zeros(64), grid=9)
        check_that_all_is_well(20)


def test_threads_with_and_without_faults():
    good = rc.kernel(
        "__global__ void twice(const float* x, float* y, int n) {"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;"
        "  if (i < n) y[i] = 2 * x[i]; }",
        shapes="n -> n",
        threads="n",
        block=64,
    )
    bad = rc.kernel(
        "__global__ void lost(const float* x, float* y, int n) {"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;"
        "  if (i == 777) y[i + (1ll << 45)] = x[i]; }",
        shapes="n -> n",
        threads="n",
        block=64,
    )
    x = jnp.arange(5000, dtype=jnp.float32)

    def work(k):
        for _ in range(15):
            if k % 2:
                np.testing.assert_array_equal(good(x), 2 * x)
            else:
                with pytest.raises(jax.errors.JaxRuntimeError, match="lost: illegal"):
                    jax.block_until_ready(bad(x))

    with jax.default_device(jax.devices("cpu")[0]), ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(6)))


def test_printing_goes_on(capfd):
    fault(wild(WILD["a text to print"], "0x30"), zeros(64), grid=9)
    run('(int* out) { printf("%s %.2s %d\\n", "good", "abc", 5); }', zeros(1), block=1)
    jax.effects_barrier()
    assert "good ab 5\n" in capfd.readouterr().out


# Pointers to functions

CALLS = """(int*, int*);
__device__ int one(int x) {{ return x + 1; }}
__device__ int two(int x) {{ return x * 2; }}
__device__ int both(int x, int y) {{ return x * y; }}
__device__ int (*table[3])(int) = {{one, two, (int (*)(int))both}};
extern "C" __global__ void k(int* zero, int* out) {{
  int (*f)(int) = {pointer};
  out[threadIdx.x] = f(threadIdx.x);
}}"""


@pytest.mark.parametrize(
    "pointer",
    ["(int (*)(int))(*zero + 0x1234ll)", "(int (*)(int))out", "table[2 + *zero]"],
    ids=["wild", "data", "arity"],
)
def test_calls_of_what_is_no_function(pointer):
    message = fault(CALLS.format(pointer=pointer), zeros(1), zeros(32), grid=3)
    assert "k: call through a pointer that holds no function of that many" in message
    assert "thread (0,0,0), block (" in message
    assert " at k.cu:8." in message
    check_that_all_is_well()


def test_calls_of_what_is_no_function_are_checked_too():
    kernel = rc.kernel(
        """__global__ void k(const int* zero, int* out) {
          out[0] = ((int (*)(int))(*zero + 0x1234ll))(5);
        }""",
        shapes="1 -> 32",
        launch=rc.LaunchConfig(1, 32),
    )
    match = "call through a pointer that holds no function"
    with (
        jax.default_device(jax.devices("cpu")[0]),
        rc.checking(),
        pytest.raises(rc.CheckError, match=match),
    ):
        kernel(zeros(1))


def test_calls_of_functions():
    source = CALLS.format(pointer="table[threadIdx.x % 2 + *zero]")
    _, out = run(source, zeros(1), zeros(32))
    t = np.arange(32)
    np.testing.assert_array_equal(out, np.where(t % 2, 2 * t, t + 1))


# The stack

FRAMES = """(int*, int*);
__device__ __noinline__ int deep(int* p, int n) {{
  int a[{size}];
  for (int i = 0; i < {size}; i++) a[i] = p[i & 15] + 1;
  return n == 0 ? a[p[1] & 1] : deep(p, n - 1) + a[(p[2] + 1) & 15] + a[n];
}}
extern "C" __global__ void k(int* p, int* out) {{
  out[threadIdx.x] = deep(p, {depth});
}}"""


@pytest.mark.parametrize(("size", "depth"), [(250, 100), (7500, 20), (60_000, 2)])
def test_stacks_that_suffice(size, depth):
    source = FRAMES.format(size=size, depth=depth)
    _, out = run(source, zeros(16), zeros(32), grid=4)
    np.testing.assert_array_equal(out, np.full(32, 1 + 2 * depth))


@pytest.mark.parametrize(("size", "depth"), [(16, 10**8), (4000, 10**5), (60_000, 90)])
def test_stacks_that_do_not(size, depth):
    source = FRAMES.format(size=size, depth=depth)
    message = fault(source, zeros(16), zeros(32), grid=4)
    assert ": the stack is full." in message
    check_that_all_is_well()


# Others' handlers

FOREIGN = """
    import ctypes, faulthandler, os, signal, sys
    import jax, numpy as np
    from support.cpu_runner import zeros
    from support.xla_runner import run

    def lost():
        try:
            run("(int* out) {{ *(int*)(out[0] + 16ll) = 1; }}", zeros(1), grid=9)
        except jax.errors.JaxRuntimeError as error:
            print("illegal memory access" in str(error), flush=True)

    {program}
    print("still here", flush=True)
"""
DUMP = "Fatal Python error: Segmentation fault"


def child(program, code=0):
    source = FOREIGN.format(program=program)
    return run_python(source, code=code, PYTHONFAULTHANDLER="")


@pytest.mark.parametrize("strike", ["ctypes.string_at(0)", "os.kill(os.getpid(), 11)"])
@pytest.mark.parametrize(
    ("program", "dumps"),
    [
        ("lost(); {strike}", 0),
        ("faulthandler.enable(); lost(); {strike}", 1),
        ("lost(); faulthandler.enable(); {strike}", 1),
        ("lost(); faulthandler.enable(); lost(); {strike}", 1),
        ("faulthandler.enable(); lost(); faulthandler.disable(); lost(); {strike}", 0),
    ],
    ids=["none", "before", "after", "between", "disabled"],
)
def test_faults_of_others_end_the_process(program, dumps, strike):
    ended = child(program.format(strike=strike), code=-signal.SIGSEGV)
    assert ended.stdout == "True\n" * program.count("lost()")
    assert ended.stderr.count(DUMP) == dumps


def test_handlers_that_recover_are_asked():
    ended = child(
        "signal.signal(signal.SIGBUS, lambda *_: print('heard', flush=True)); lost(); "
        "os.kill(os.getpid(), signal.SIGBUS); lost()"
    )
    assert ended.stdout == "True\nheard\nTrue\nstill here\n"


@pytest.mark.parametrize(
    ("use", "text"),
    [
        ("*(int*)0 = 5;", "illegal memory access at address 0x0 "),
        ("*out = *(int*)nullptr;", "illegal memory access at address 0x0 "),
        (
            "*out = ((int (*)(int))0)(1);",
            "call through a pointer that holds no function",
        ),
    ],
)
def test_null_pointers_that_the_compiler_knows(use, text):
    assert text in fault(f"(int* out) {{ {use} }}", zeros(1))
