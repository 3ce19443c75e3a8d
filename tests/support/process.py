"""Programs in processes of their own: what they print, and how they must end."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path


def run_command(*command, code=0, timeout=240, **environment):
    """Runs a program to its end.

    Args:
      *command: The program and its arguments.
      code: The exit status it must have; None for any.
      timeout: In seconds.
      **environment: Variables that are added to this process's.

    Returns:
      The ended process, with `stdout` and `stderr` as texts.
    """
    ended = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        timeout=timeout,
        env={**os.environ, **environment},
        check=False,
    )
    printed = f"exit status {ended.returncode}\n{ended.stdout}\n{ended.stderr}"
    assert code in (None, ended.returncode), printed
    return ended


def run_python(program, *arguments, options=(), **how):
    """Runs a Python program, which reports it if it crashes.

    Args:
      program: A text, which may be indented as a whole, or the `Path` of a file.
      *arguments: What it finds in `sys.argv[1:]`.
      options: Of the interpreter.
      **how: `code`, `timeout` and variables, as in `run_command`.

    Returns:
      The ended process, with `stdout` and `stderr` as texts.
    """
    if not isinstance(program, Path):
        program = "-c", textwrap.dedent(program)
    else:
        program = (program,)
    how.setdefault("PYTHONFAULTHANDLER", "1")
    return run_command(sys.executable, *options, *program, *arguments, **how)


def persistent_cache(folder):
    """Variables under which XLA stores all that it compiles, in a folder."""
    return {
        "JAX_COMPILATION_CACHE_DIR": str(folder),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
    }
