"""Checked mode: whether the ops that are recorded now get checks."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Callable, Iterator
from typing import Any

import jax

from . import settings
from .compat import runtime_errors, traced_apart
from .errors import CheckError

# How every report of a checked call begins, after the kernel's name.
CHECK_FAILED = ": check failed: "
_REPORT = re.compile(rf"(?:^|\s)(\S+{CHECK_FAILED}.*)", re.DOTALL)

_state = threading.local()


def enabled() -> bool:
    """Whether what this thread records now is to be checked."""
    if getattr(_state, "depth", 0):
        return True
    return settings.check()


@contextlib.contextmanager
def checking() -> Iterator[None]:
    """Checks what kernels do that are called inside of the `with` block.

    On the CPU every access of a kernel is checked, and the first one that is wrong
    stops the call with a CheckError; on a GPU guard bands around outputs and workspaces
    are. The mode belongs to the thread. Functions that are already jitted are compiled
    once more for it, and used again without it afterwards.

    Inside of `jax.jit` the error arrives as jax.errors.JaxRuntimeError when the result
    is waited for. If that happens in the `with` block, it leaves it as a CheckError.

    Raises:
      CheckError: A kernel is wrong. The message names the kernel, the argument, the
        thread, the block and the source line.
    """
    _state.depth = getattr(_state, "depth", 0) + 1
    try:
        with traced_apart("jax_rawcuda_checks"), reported():
            yield
    finally:
        _state.depth -= 1


def waiting(call: Callable[..., Any]) -> Callable[..., Any]:
    """Makes a function of arrays raise what is wrong with a checked call at once."""

    def wait(*arrays: Any) -> Any:
        with reported():
            return jax.block_until_ready(call(*arrays))

    return wait


@contextlib.contextmanager
def reported() -> Iterator[None]:
    """Turns the report of a checked call, as XLA raises it, into a CheckError."""
    try:
        yield
    except runtime_errors() as error:
        report = _REPORT.search(str(error))
        if report is None:
            raise
        raise CheckError(report[1]) from error
