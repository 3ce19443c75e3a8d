"""Compiler options, and the flags that they become."""

from __future__ import annotations

import pickle
import re

import pytest
from support.programs import program

from jax_rawcuda._base.errors import CompileError, UnsupportedError, ValidationError
from jax_rawcuda._compile.compilation import compile_program
from jax_rawcuda._compile.compiler import CLANG
from jax_rawcuda._source.options import NvrtcOptions


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"arch": "90"}, r"arch='90': a name such as \"sm_90\""),
        ({"arch": 90}, "arch=90"),
        *(
            ({"std": std}, f"std='{re.escape(std)}': one of c\\+\\+14, c\\+\\+17")
            for std in ("c++98", "c++03", "c++11", "c++0x", "20", "")
        ),
        ({"max_registers": 0}, "max_registers=0: an int from 1 to 255"),
        ({"max_registers": True}, "max_registers=True"),
        ({"max_registers": 1.5}, r"max_registers=1\.5"),
        ({"fast_math": 1}, "fast_math=1: True or False"),
        ({"defines": {"a b": 1}}, "defines='a b': each name must be a C identifier"),
        ({"defines": {"N": 1.5}}, r"defines\['N'\]=1\.5"),
        ({"defines": {"N": "1\n2"}}, "a str of one line"),
        ({"defines": "N"}, "defines='N': a mapping is needed"),
        ({"defines": [1]}, "a mapping is needed"),
        ({"headers": {"a.h": 1}}, "headers='a.h'"),
        ({"headers": {"a.h": "\0"}}, "headers='a.h'"),
        ({"include_dirs": "inc"}, "include_dirs='inc': a list of directories"),
        ({"include_dirs": [1]}, "include_dirs=1: each must be a path"),
        ({"extra": "-G"}, "extra='-G': a list of flags"),
        ({"extra": ["-arch=sm_90"]}, r"set NvrtcOptions\.arch instead"),
        ({"extra": ["--gpu-architecture=sm_90"]}, r"set NvrtcOptions\.arch instead"),
        ({"extra": [""]}, "non-empty str"),
        ({"extra": ["-UN"]}, "extra='-UN': leave the macro out of .*defines"),
        ({"extra": ["--undefine-macro", "N"]}, "extra='--undefine-macro N'"),
        ({"extra": ["--pre-include=a.h"]}, "write an #include in the source"),
        ({"extra": ["-std=c++03"]}, "std='c\\+\\+03': one of"),
        ({"extra": ["-std=c++17"], "std": "c++20"}, "std='c\\+\\+20' is set, too"),
        ({"extra": ["-maxrregcount=x"]}, "max_registers='x'"),
        ({"extra": ["-DN=1"], "defines": {"N": 2}}, "it has another value, too"),
        ({"extra": ["-D1=1"]}, "defines='1': each name must be a C identifier"),
    ],
)
def test_bad_options_are_named(options, says):
    with pytest.raises(ValidationError, match=says):
        NvrtcOptions(**options)


def test_equal_options_are_equal_however_written():
    one = NvrtcOptions(defines={"B": 2, "A": None}, headers={"a.h": ""}, extra=["-w"])
    two = NvrtcOptions(defines={"A": "1", "B": "2"}, headers={"a.h": ""}, extra=("-w",))
    assert one == two
    assert hash(one) == hash(two)
    assert pickle.loads(pickle.dumps(one)) == one
    assert one != NvrtcOptions()


@pytest.mark.parametrize(
    ("extra", "fields"),
    [
        (["-DN=3"], {"defines": {"N": 3}}),
        (["-D", "N=a=b"], {"defines": {"N": "a=b"}}),
        (["-DN"], {"defines": {"N": None}}),
        (["--define-macro=N=3", "-DM="], {"defines": {"M": "", "N": "3"}}),
        (["--define-macro", "N=3"], {"defines": {"N": "3"}}),
        (
            ["-I/a", "-I", "/b", "--include-path=/c"],
            {"include_dirs": ["/a", "/b", "/c"]},
        ),
        (["-std=c++20"], {"std": "c++20"}),
        (["--std=c++20"], {"std": "c++20"}),
        (["-use_fast_math"], {"fast_math": True}),
        (["--use_fast_math=false"], {}),
        (["-maxrregcount=32"], {"max_registers": 32}),
        (["-lineinfo", "--device-debug"], {"line_info": True, "debug": True}),
        (["-G", "-w"], {"debug": True, "extra": ["-w"]}),
    ],
)
def test_a_flag_is_the_same_as_its_field(extra, fields):
    assert NvrtcOptions(extra=extra) == NvrtcOptions(**fields)


def test_flags_come_beside_fields():
    options = NvrtcOptions(
        defines={"A": 1}, include_dirs=["/a"], extra=["-DB=2", "-I/b", "-DA=1"]
    )
    assert options == NvrtcOptions(defines={"A": 1, "B": 2}, include_dirs=["/a", "/b"])


# What the CPU makes of the flags of NVRTC that have no field.

PRODUCT = "__global__ void k(float* x) { *x = x[1] * x[2] + x[3]; }"


def host_ptx(source, *extra):
    return compile_program(program(source, extra=extra), CLANG).ptx


def test_the_cpu_follows_contraction_and_flushing():
    assert "fma.rn.f32" in host_ptx(PRODUCT)
    assert "fma.rn.f32" in host_ptx(PRODUCT, "-fmad=true")
    assert "fma" not in host_ptx(PRODUCT, "--fmad=false")
    assert ".ftz" not in host_ptx(PRODUCT, "-ftz=false")
    assert "fma.rn.ftz.f32" in host_ptx(PRODUCT, "-ftz=true")


@pytest.mark.parametrize(
    "flag", ["-default-device", "--device-as-default-execution-space"]
)
def test_the_cpu_makes_plain_functions_device_functions(flag):
    source = (
        "float f(float x) { return x; } __global__ void k(float* x) { *x = f(*x); }"
    )
    assert ".entry" in host_ptx(source, flag)
    with pytest.raises(CompileError, match=r"Hint: Write __device__ before the"):
        host_ptx(source)


@pytest.mark.parametrize(
    "flag", ["-w", "-rdc=true", "-Xptxas=-O1", "-diag-suppress=177", "-prec-div=false"]
)
def test_the_cpu_ignores_what_only_a_gpu_has(flag):
    assert ".entry" in host_ptx(PRODUCT, flag)


@pytest.mark.parametrize(
    "flag", ["--some-mode", "--some-mode=2", "-O3", "-fmad=maybe", "x"]
)
def test_the_cpu_refuses_what_it_does_not_know(flag):
    with pytest.raises(
        UnsupportedError, match=f"extra: what '{flag}' means on the CPU"
    ):
        host_ptx(PRODUCT, flag)


def test_flags():
    options = NvrtcOptions(
        std="c++20",
        defines={"N": 4, "NAME": '"x y"'},
        fast_math=True,
        max_registers=32,
        line_info=True,
        debug=True,
        extra=["-w"],
    )
    assert options.flags() == (
        "--std=c++20",
        "--define-macro=N=4",
        '--define-macro=NAME="x y"',
        "--use_fast_math",
        "--maxrregcount=32",
        "--generate-line-info",
        "--device-debug",
        "-w",
    )


def test_a_missing_include_dir_is_named(tmp_path):
    options = NvrtcOptions(include_dirs=[tmp_path / "no"])
    with pytest.raises(ValidationError, match=r"no directory '.*no'"):
        _ = options.include_paths
