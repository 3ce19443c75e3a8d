"""printf inside kernels: where the text goes, and how much of it."""

from __future__ import annotations

import contextlib
import io
import sys

import jax
import pytest
from support.cpu_runner import zeros
from support.process import run_python
from support.xla_runner import run

HELLO = r'(int* out) { printf("thread %d of %s\n", threadIdx.x, "k"); }'


def lines(count):
    return sorted(f"thread {i} of k" for i in range(count))


def test_text_goes_to_sys_stdout(capsys):
    run(HELLO, zeros(1), block=4)
    assert sorted(capsys.readouterr().out.splitlines()) == lines(4)


def test_text_goes_to_what_stands_for_sys_stdout(capfd):
    with contextlib.redirect_stdout(io.StringIO()) as text:
        run(HELLO, zeros(1), block=4)
    assert sorted(text.getvalue().splitlines()) == lines(4)
    assert capfd.readouterr().out == ""


def test_every_line_arrives_whole(capsys):
    source = r"""(int* out) {
      for (int i = 0; i < 50; i++)
        printf("<%d %d %d %s>\n", blockIdx.x, threadIdx.x, i, "0123456789abcdefghij");
    }"""
    run(source, zeros(1), grid=40, block=32)
    expected = {
        f"<{b} {t} {i} 0123456789abcdefghij>"
        for b in range(40)
        for t in range(32)
        for i in range(50)
    }
    out = capsys.readouterr().out.splitlines()
    assert len(out) == len(expected)
    assert set(out) == expected


def test_more_text_than_fits_is_cut(capsys):
    source = r"""(int* out) {
      for (int i = 0; i < 100; i++) printf("%4000d", i);
    }"""
    run(source, zeros(1), grid=100, block=4)
    text = capsys.readouterr().out
    assert 60_000_000 < len(text) < 68_000_000
    assert "bytes that kernels printed are left out]" in text[-100:]


@pytest.mark.parametrize(
    "call",
    [
        r'"<%300000000d>", 3',
        r'"<%-300000000d>", 3',
        r'"<%0300000000d>", 3',
        r'"<%.300000000d>", 3',
        r'"<%*d>", 300000000, 3',
        r'"<%*d>", -300000000, 3',
        r'"<%.*d>", 300000000, 3',
        r'"<%99999999999999999999999lld>", 3ll',
        r'"<%300000000s>", "a"',
        r'"<%300000000.2f>", 1.5',
    ],
)
def test_a_field_has_a_limit(capsys, call):
    run(f"(int* out) {{ printf({call}); }}", zeros(1), block=32)
    fields = capsys.readouterr().out.removesuffix(">").split(">")
    assert [len(field) for field in fields] == [65537] * 32


def test_fields_below_the_limit_are_as_given(capsys):
    call = 'printf("%010d|%-7.3s|%+.0f|%*.*f", 42, "abcdef", 2.0, 9, 2, 1.5);'
    run(f"(int* out) {{ {call} }}", zeros(1), block=1)
    assert capsys.readouterr().out == "0000000042|abc    |+2|     1.50"


def test_wide_fields_stop_in_time(monkeypatch):
    monkeypatch.setenv("JAX_RAWCUDA_CPU_TIMEOUT", "1")
    source = r'(int* out) { while (out[0] == 0) printf("%300000000d", 3); }'
    with pytest.raises(Exception, match="JAX_RAWCUDA_CPU_TIMEOUT"):
        run(source, zeros(1), block=32)


def test_bytes_that_are_no_text(capsys):
    run(r'(int* out) { printf("a%cb\n", 0xE9); }', zeros(1), block=1)
    assert capsys.readouterr().out == "a\N{REPLACEMENT CHARACTER}b\n"


def test_a_stdout_that_fails_is_reported(monkeypatch):
    class Broken(io.StringIO):
        def write(self, _):
            raise OSError("no room")

    reports = []
    monkeypatch.setattr(sys, "unraisablehook", reports.append)
    with contextlib.redirect_stdout(Broken()):
        (out,) = run(HELLO, zeros(1), block=1)
    assert out.tolist() == [0]
    assert [str(report.exc_value) for report in reports] == ["no room"]


def test_text_of_a_process_that_ends():
    program = f"""
        from support.cpu_runner import zeros
        from support.xla_runner import run
        run({HELLO!r}, zeros(1), block=3)
    """
    assert sorted(run_python(program).stdout.splitlines()) == lines(3)


def test_text_inside_a_larger_program(capsys):
    import jax_rawcuda as rc

    hello = rc.kernel(
        r'extern "C" __global__ void hello(const int* x, int* y) {'
        r' y[threadIdx.x] = x[threadIdx.x]; printf("x=%d\n", x[threadIdx.x]); }',
        shapes="n -> n",
        threads="n",
        block=4,
    )
    result = jax.jit(lambda x: hello(x + 1) * 2)(zeros(4))
    assert result.tolist() == [2, 2, 2, 2]
    assert capsys.readouterr().out == "x=1\n" * 4


def test_kernels_that_still_print_when_the_process_ends():
    program = r"""
        import jax, jax.numpy as jnp
        import jax_rawcuda as rc

        busy = rc.kernel(
            'extern "C" __global__ void busy(const int* x, int* y) {'
            ' int n = x[threadIdx.x];'
            ' for (int i = 0; i < 20000; i++) n = n * 3 + (n >> 7);'
            ' if (threadIdx.x == 0) printf("%d\\n", n); y[threadIdx.x] = n; }',
            out=jax.ShapeDtypeStruct((64,), "int32"),
            launch=rc.LaunchConfig(grid=400, block=64),
        )
        f = jax.jit(lambda x: busy(busy(x)))
        results = [f(jnp.full(64, i, jnp.int32)) for i in range(4)]
    """
    for _ in range(3):
        run_python(program)
