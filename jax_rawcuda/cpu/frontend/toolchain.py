"""Finds a clang that can write PTX, and the headers it compiles against."""

from __future__ import annotations

import atexit
import dataclasses
import functools
import importlib.util
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from ..._base import settings
from ..._base.errors import UnsupportedError

INCLUDE_DIR = Path(__file__).parent.parent / "include"
# The C headers, which NVRTC gets as well.
C_INCLUDE_DIR = Path(__file__).parents[2] / "include" / "c"

# Older releases refuse `__shared__ alignas(16) float x[4]`.
_OLDEST = (21, 0)

_MISSING = (
    "The CPU route needs clang: pip install 'jax-rawcuda[cpu]' (brings ziglang), "
    "or set JAX_RAWCUDA_CLANG."
)


@dataclasses.dataclass(frozen=True, slots=True)
class Clang:
    """A usable compiler.

    Attributes:
      command: The command line that starts it, without arguments of a compilation.
      version: Its release, such as (22, 1).
      fingerprint: Changes when the program file does.
    """

    command: tuple[str, ...]
    version: tuple[int, int]
    fingerprint: str

    def __str__(self) -> str:
        return f"clang {self.version[0]}.{self.version[1]}"


def find_clang() -> Clang:
    """Returns the clang in use.

    `JAX_RAWCUDA_CLANG` comes first, then a new enough `clang` on PATH that has the
    NVPTX target, then the one inside the `ziglang` package.

    Raises:
      UnsupportedError: There is none, or `JAX_RAWCUDA_CLANG` names an unusable one.
    """
    return _find(settings.clang(), settings.search_path())


@functools.cache
def _find(setting: str, path: str) -> Clang:
    if setting:
        program = shutil.which(setting, path=path)
        if program is None:
            raise UnsupportedError(
                f"JAX_RAWCUDA_CLANG={setting!r}: no such program. Give the path of a "
                "clang or zig executable."
            )
        return _probe(_command(program), f"JAX_RAWCUDA_CLANG={setting!r}")
    if program := shutil.which("clang", path=path):
        try:
            return _probe((program,), program)
        except UnsupportedError:
            pass  # an old system clang must not hide ziglang's
    if (program := _ziglang()) is not None:
        return _probe(_command(program), program)
    raise UnsupportedError(_MISSING)


def _command(program: str) -> tuple[str, ...]:
    is_zig = Path(program).stem.startswith(("zig", "python-zig"))
    return (program, "clang") if is_zig else (program,)


def _ziglang() -> str | None:
    spec = importlib.util.find_spec("ziglang")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        program = Path(folder) / ("zig.exe" if sys.platform == "win32" else "zig")
        if program.exists():
            return str(program)
    return None


def _probe(command: tuple[str, ...], who: str) -> Clang:
    match = re.search(r"clang version (\d+)\.(\d+)", _ask(command, "--version"))
    if match is None:
        raise UnsupportedError(f"{who} does not answer `--version` like clang.")
    version = int(match[1]), int(match[2])
    if version < _OLDEST:
        raise UnsupportedError(
            f"{who} is clang {version[0]}.{version[1]}; the CPU route needs clang "
            f"{_OLDEST[0]}.{_OLDEST[1]} or newer. {_MISSING}"
        )
    if "nvptx64" not in _ask(command, "-print-targets"):
        raise UnsupportedError(f"{who} is built without the NVPTX target. {_MISSING}")
    stat = Path(command[0]).stat()
    return Clang(command, version, f"{command} {stat.st_size} {stat.st_mtime_ns}")


def _ask(command: tuple[str, ...], question: str) -> str:
    try:
        done = subprocess.run(
            [*command, question], capture_output=True, text=True, check=False
        )
    except OSError as error:
        raise UnsupportedError(f"{command[0]} does not start: {error}.") from error
    return done.stdout


@functools.cache
def scratch_folder() -> str:
    """Returns this process's folder, made on first use."""
    folder = tempfile.TemporaryDirectory(prefix="jax_rawcuda-")
    atexit.register(folder.cleanup)
    return folder.name
