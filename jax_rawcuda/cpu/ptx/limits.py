"""Sizes that a kernel may declare: what the device allows, and what the host has."""

from __future__ import annotations

import math

from ..._base.errors import UnsupportedError
from .module import Module
from .variable import Variable

_LOCAL = 512 << 10  # per thread
_PARAMETERS = 32764
_VARIABLE = 2 << 30
_SHARED = 48 << 10  # static, per block
_CLUSTER = 8  # blocks; larger ones are not portable between devices
_CONSTANT = 64 << 10  # of a module


def check_sizes(module: Module, kernel: str, names: list[str]) -> None:
    """Refuses a kernel whose variables are too large.

    Args:
      module: The PTX.
      kernel: The kernel's symbol.
      names: The functions that it reaches, itself among them.

    Raises:
      UnsupportedError: One of them is.
    """
    parameters = sum(v.size for v in module.functions[kernel].parameters)
    _check(kernel, "parameters", parameters, _PARAMETERS, "Pass a pointer instead.")
    for name in names:
        body = module.functions[name].body
        size = sum(v.size for v in body.variables if v.space == "local")
        what = f"local variables per thread in {name}"
        _check(kernel, what, size, _LOCAL, "Give the kernel a workspace for them.")
        for variable in body.variables:
            _check_variable(kernel, variable)
    for variable in module.variables.values():
        _check_variable(kernel, variable)
    size = sum(v.size for v in module.variables.values() if v.space == "const")
    advice = "Make some of them __device__."
    _check(kernel, "__constant__ variables", size, _CONSTANT, advice)


def check_shared(kernel: str, size: int) -> None:
    """Refuses more static shared memory per block, in bytes, than a device has.

    Raises:
      UnsupportedError: `size` is more.
    """
    advice = "Declare one array `extern __shared__`, and give shared_mem_bytes."
    _check(kernel, "static shared memory per block", size, _SHARED, advice)


def check_cluster(kernel: str, extents: tuple[int, int, int]) -> None:
    """Refuses `__cluster_dims__`, in blocks, that a launch would not get.

    Raises:
      UnsupportedError: There are too many blocks.
    """
    blocks = math.prod(extents)
    if blocks > _CLUSTER:
        raise UnsupportedError(
            f"{kernel}: its __cluster_dims__ {extents} has {blocks} blocks; the "
            f"portable limit is {_CLUSTER} blocks per cluster. Use a smaller cluster."
        )


def _check_variable(kernel: str, variable: Variable) -> None:
    what = f"variable {variable.name}"
    _check(kernel, what, variable.size, _VARIABLE, "Pass a pointer instead.")


def _check(kernel: str, what: str, size: int, limit: int, advice: str) -> None:
    if not 0 <= size <= limit:
        raise UnsupportedError(
            f"{kernel}: {size} bytes for {what}; the limit is {limit}. {advice}"
        )
