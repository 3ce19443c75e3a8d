"""Kernels as host machine code, through llvmlite."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, fields

from .._base import cache
from .._base.errors import RawCudaError, UnsupportedError
from .llvm import Toolchain
from .ptx.module import parse
from .translate import KernelDescriptor, Translation, translate
from .variable_memory import VariableMemory


@dataclass(frozen=True, slots=True, kw_only=True)
class HostKernel(KernelDescriptor):
    """A kernel that the host can run. The C++ scheduler reads the attributes.

    Attributes:
      name: As in the PTX.
      regions: Addresses of the region functions, `void(Context*, int32, int32)`.
    """

    name: str
    regions: tuple[int, ...]
    code: object = field(repr=False, compare=False)


def load_kernel(
    ptx: str,
    kernel: str,
    variables: Mapping[str, bytes] | None = None,
    *,
    checked: bool = False,
) -> HostKernel:
    """Translates, compiles and links one kernel; the same text only once.

    Args:
      ptx: The module's PTX.
      kernel: The kernel's lowered name.
      variables: First values of the module's variables, by symbol. Kernels that are
        loaded with the same text and values share the variables.
      checked: Whether the code asks before each access.

    Raises:
      UnsupportedError: The kernel reaches something that the CPU route cannot run, or
        llvmlite is missing.
    """
    values = dict(variables or {})
    module = cache.fingerprint(ptx, repr(checked), repr(sorted(values.items())))
    key = module, kernel
    # llvmlite is not thread safe: one lock around all work with it.
    with _lock:
        if key not in _kernels:
            try:
                _kernels[key] = _load(ptx, kernel, module, values, checked)
            except RawCudaError:
                raise
            except Exception as error:
                # Nobody checks PTX that was not written by a compiler: there is no end
                # to what can be wrong with it.
                raise UnsupportedError(
                    f"{kernel}: the PTX cannot be translated for the CPU "
                    f"({type(error).__name__}: {error}). Is it complete, and would "
                    "ptxas take it?"
                ) from error
        return _kernels[key]


def _load(
    ptx: str, kernel: str, module: str, values: Mapping[str, bytes], checked: bool
) -> HostKernel:
    translation = translate(ptx, kernel, checked=checked)
    if translation.external and module not in _memories:
        _memories[module] = VariableMemory(parse(ptx), values)
    addresses = {
        f"var.{name}": _memories[module].address(name) for name in translation.external
    }
    return _link(translation, kernel, addresses)


_lock = threading.Lock()
# Never dropped: compiled plans hold the addresses of code and variables.
_kernels: dict[tuple[str, str], HostKernel] = {}
_memories: dict[str, VariableMemory] = {}
_numbers = itertools.count()  # LLVM never frees the name of a library
_toolchain: Toolchain | None = None


def _link(
    translation: Translation, kernel: str, addresses: Mapping[str, int]
) -> HostKernel:
    global _toolchain
    if _toolchain is None:
        _toolchain = Toolchain()
    key = cache.fingerprint(_toolchain.identity, translation.ir)
    if missing := sorted(_toolchain.missing(translation.ir)):
        raise UnsupportedError(
            f"{kernel} is not available on the CPU: the host has no {missing[0]}"
        )
    image = cache.lookup("host-object", key, lambda: _toolchain.compile(translation.ir))
    name = f"{kernel}.{next(_numbers)}"
    layout = {f.name: getattr(translation, f.name) for f in fields(KernelDescriptor)}
    exports = translation.regions
    if table := translation.checks:
        exports += tuple(
            symbol
            for v in table.globals
            if (symbol := f"var.{v.name}") not in addresses
        )
    code = _toolchain.link(image, exports, name, addresses)
    if table:
        places = {
            v.name: addresses.get(symbol) or code[symbol]
            for v in table.globals
            for symbol in [f"var.{v.name}"]
        }
        layout["checks"] = table.located(places)
    regions = tuple(code[name] for name in translation.regions)
    return HostKernel(name=kernel, regions=regions, code=code, **layout)
