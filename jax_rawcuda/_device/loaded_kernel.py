"""Asks the installed GPU, through CUDA's own Python bindings, about a kernel."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
from collections.abc import Iterator
from typing import Any

from .driver import call_driver, device_context, require_device


@dataclasses.dataclass(frozen=True, slots=True)
class FunctionAttributes:
    """What a kernel takes on one architecture. None where nobody could say.

    Attributes:
      arch: The architecture the numbers hold for.
      registers: Per thread.
      shared_bytes: Static shared memory per block.
      local_bytes: Stack per thread, spilled registers included.
      spill_bytes: Stores and loads of spilled registers per thread; None when a driver
        was asked, which does not know them.
      max_threads: Per block, at most.
    """

    arch: str
    registers: int | None = None
    shared_bytes: int | None = None
    local_bytes: int | None = None
    spill_bytes: int | None = None
    max_threads: int | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Occupancy:
    """How full one multiprocessor gets.

    Attributes:
      blocks: Resident blocks.
      warps: Resident warps.
      fraction: Of the warps that the multiprocessor can hold.
    """

    blocks: int
    warps: int
    fraction: float


class LoadedKernel:
    """A kernel on the first visible device, for questions only."""

    def __init__(self, kernel: str, image: bytes, symbol: str) -> None:
        self._kernel = kernel
        self._image = image
        self._symbol = symbol
        self._driver = require_device(kernel)

    def attributes(self, arch: str) -> FunctionAttributes:
        """Returns the driver's numbers."""
        names = self._driver.CUfunction_attribute
        with self._loaded() as function:

            def ask(attribute: Any) -> int:
                return int(self._call("cuFuncGetAttribute", attribute, function))

            return FunctionAttributes(
                arch=arch,
                registers=ask(names.CU_FUNC_ATTRIBUTE_NUM_REGS),
                shared_bytes=ask(names.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES),
                local_bytes=ask(names.CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES),
                max_threads=ask(names.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
            )

    def occupancy(self, threads: int, shared_mem_bytes: int) -> Occupancy:
        """Returns how many such blocks one multiprocessor holds."""
        limit = self._driver.CUdevice_attribute
        name = limit.CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR
        with self._loaded(shared_mem_bytes) as function:
            blocks = self._call(
                "cuOccupancyMaxActiveBlocksPerMultiprocessor",
                function,
                threads,
                shared_mem_bytes,
            )
            resident_threads = self._call("cuDeviceGetAttribute", name, 0)
        warps = blocks * -(-threads // 32)
        return Occupancy(blocks, warps, warps / (resident_threads // 32))

    def suggest_block(self, shared_mem_bytes: int) -> int:
        """Returns the threads per block with the best occupancy."""
        with self._loaded(shared_mem_bytes) as function:
            _, threads = self._call(
                "cuOccupancyMaxPotentialBlockSize", function, None, shared_mem_bytes, 0
            )
        return int(threads)

    @contextlib.contextmanager
    def _loaded(self, shared_mem_bytes: int = 0) -> Iterator[Any]:
        """Makes the device's primary context current, and the function in it."""
        with device_context(self._kernel, 0):
            yield self._function(shared_mem_bytes)

    def _function(self, shared_mem_bytes: int) -> Any:
        digest = hashlib.sha256(self._image).digest()
        if digest not in _libraries:
            _libraries[digest] = self._call(
                "cuLibraryLoadData", self._image, [], [], 0, [], [], 0
            )
        kernel = self._call(
            "cuLibraryGetKernel", _libraries[digest], self._symbol.encode()
        )
        function = self._call("cuKernelGetFunction", kernel)
        if shared_mem_bytes > 48 << 10:  # beyond this a kernel has to opt in
            names = self._driver.CUfunction_attribute
            attribute = names.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            self._call("cuFuncSetAttribute", function, attribute, shared_mem_bytes)
        return function

    def _call(self, function: str, *arguments: Any) -> Any:
        return call_driver(self._kernel, function, *arguments)


# By digest of the image. Kept for the process: a question is often asked again.
_libraries: dict[bytes, Any] = {}
