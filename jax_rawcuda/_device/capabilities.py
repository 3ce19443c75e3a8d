"""Capabilities: what a device, or the CPU in its place, allows a kernel."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import jax

from .._base.errors import UnsupportedError, ValidationError
from .._types.launch import MAX_BLOCK, MAX_GRID, MAX_SHARED_MEM_BYTES, MAX_THREADS, Dim3
from ..cpu import ARCH
from .driver import call_driver

_WARP = 32
_SHARED_WITHOUT_OPT_IN = 48 << 10
_TMA_SINCE = (9, 0)


@dataclass(frozen=True, slots=True)
class Capabilities:
    """Limits and features of a device.

    On the CPU they are those of the emulation: kernels are compiled as for the compute
    capability named here, and what the emulation lacks is False.

    Attributes:
      platform: `cuda` or `cpu`.
      name: The device's own.
      compute_capability: Such as `(9, 0)`.
      multiprocessors: Of the device; on the CPU the hardware threads.
      warp_size: Threads per warp.
      max_threads_per_block: Threads in a block.
      max_threads_per_multiprocessor: Threads resident on a multiprocessor.
      max_block: Threads per block along x, y and z.
      max_grid: Blocks per grid along x, y and z.
      shared_mem_bytes: Of a block without opting in.
      shared_mem_bytes_opt_in: Of a block, static and dynamic, at most. A launch opts in
        by itself.
      registers_per_block: 32-bit registers; None where there are none.
      l2_bytes: Of the L2 cache; None where it is not known.
      memory_bytes: Of the device's memory; None where it is not known.
      cooperative_launch: Whether grids can synchronise.
      cluster_launch: Whether clusters of several blocks can be launched.
      tma: Whether there are bulk tensor copies.
      driver_version: The newest CUDA that the driver speaks, such as `13.0`; None on
        the CPU.
    """

    platform: str
    name: str
    compute_capability: tuple[int, int]
    multiprocessors: int
    warp_size: int
    max_threads_per_block: int
    max_threads_per_multiprocessor: int
    max_block: Dim3
    max_grid: Dim3
    shared_mem_bytes: int
    shared_mem_bytes_opt_in: int
    registers_per_block: int | None
    l2_bytes: int | None
    memory_bytes: int | None
    cooperative_launch: bool
    cluster_launch: bool
    tma: bool
    driver_version: str | None


def capabilities(device: jax.Device | None = None) -> Capabilities:
    """Describes a device; starts JAX's backends if need be.

    Args:
      device: One of this process; JAX's default device when None.

    Returns:
      Its limits and features; on the CPU those of the emulation.

    Raises:
      ValidationError: Not a device, or another process's.
      UnsupportedError: Neither a CUDA device nor the CPU.
    """
    if device is None:
        device = jax.config.jax_default_device or jax.local_devices()[0]
        if isinstance(device, str):
            device = jax.local_devices(backend=device)[0]
    if not isinstance(device, jax.Device):
        raise ValidationError(
            f"capabilities: device={device!r}; it needs one of jax.devices()."
        )
    if device.process_index != jax.process_index():
        raise ValidationError(
            f"capabilities: {device} belongs to process {device.process_index}. Ask "
            "there."
        )
    if device.platform == "cpu":
        return _cpu(str(device.device_kind))
    if device.platform != "gpu" or "rocm" in device.client.platform_version.lower():
        raise UnsupportedError(
            f"capabilities: {device} is neither a CUDA device nor the CPU."
        )
    return _cuda(device.local_hardware_id)


def _cuda(ordinal: int) -> Capabilities:
    device = _ask("cuDeviceGet", ordinal)

    def ask(name: str) -> int:
        from cuda.bindings.driver import CUdevice_attribute

        attribute = getattr(CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
        return int(_ask("cuDeviceGetAttribute", attribute, device))

    def along(name: str) -> Dim3:
        return ask(f"{name}_X"), ask(f"{name}_Y"), ask(f"{name}_Z")

    version = int(_ask("cuDriverGetVersion"))
    capability = (ask("COMPUTE_CAPABILITY_MAJOR"), ask("COMPUTE_CAPABILITY_MINOR"))
    return Capabilities(
        platform="cuda",
        name=_ask("cuDeviceGetName", 256, device).split(b"\0")[0].decode(),
        compute_capability=capability,
        multiprocessors=ask("MULTIPROCESSOR_COUNT"),
        warp_size=ask("WARP_SIZE"),
        max_threads_per_block=ask("MAX_THREADS_PER_BLOCK"),
        max_threads_per_multiprocessor=ask("MAX_THREADS_PER_MULTIPROCESSOR"),
        max_block=along("MAX_BLOCK_DIM"),
        max_grid=along("MAX_GRID_DIM"),
        shared_mem_bytes=ask("MAX_SHARED_MEMORY_PER_BLOCK"),
        shared_mem_bytes_opt_in=ask("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"),
        registers_per_block=ask("MAX_REGISTERS_PER_BLOCK"),
        l2_bytes=ask("L2_CACHE_SIZE"),
        memory_bytes=int(_ask("cuDeviceTotalMem", device)),
        cooperative_launch=bool(ask("COOPERATIVE_LAUNCH")),
        cluster_launch=bool(ask("CLUSTER_LAUNCH")),
        tma=capability >= _TMA_SINCE,
        driver_version=f"{version // 1000}.{version % 1000 // 10}",
    )


def _ask(function: str, *arguments: object) -> Any:
    return call_driver("capabilities", function, *arguments)


def _cpu(name: str) -> Capabilities:
    number = int(ARCH.removeprefix("sm_"))
    return Capabilities(
        platform="cpu",
        name=name,
        compute_capability=divmod(number, 10),
        multiprocessors=_hardware_threads(),
        warp_size=_WARP,
        max_threads_per_block=MAX_THREADS,
        max_threads_per_multiprocessor=MAX_THREADS,
        max_block=MAX_BLOCK,
        max_grid=MAX_GRID,
        shared_mem_bytes=_SHARED_WITHOUT_OPT_IN,
        shared_mem_bytes_opt_in=MAX_SHARED_MEM_BYTES,
        registers_per_block=None,
        l2_bytes=None,
        memory_bytes=_host_memory(),
        cooperative_launch=True,
        cluster_launch=True,
        tma=False,
        driver_version=None,
    )


def _hardware_threads() -> int:
    if hasattr(os, "sched_getaffinity"):  # not on macOS and Windows
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _host_memory() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # Windows has no sysconf
        return None
