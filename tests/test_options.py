"""Compiler options, and the flags that they become."""

from __future__ import annotations

import pickle

import pytest

from jax_rawcuda._errors import ValidationError
from jax_rawcuda._nvrtc import NvrtcOptions


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"arch": "90"}, r"arch='90': a name such as \"sm_90\""),
        ({"arch": 90}, "arch=90"),
        ({"std": "c++98"}, r"std='c\+\+98': one of c\+\+03"),
        ({"max_registers": 0}, "max_registers=0: an int from 1 to 255"),
        ({"max_registers": True}, "max_registers=True"),
        ({"max_registers": 1.5}, r"max_registers=1\.5"),
        ({"fast_math": 1}, "fast_math=1: True or False"),
        ({"defines": {"a b": 1}}, "defines='a b': each name must be a C identifier"),
        ({"defines": {"N": 1.5}}, r"defines\['N'\]=1\.5"),
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
