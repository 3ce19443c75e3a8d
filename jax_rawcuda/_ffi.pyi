"""The XLA FFI handlers of jax_rawcuda, and what Python must give them."""

from collections.abc import Callable
from typing import Any

from jax_rawcuda.cpu.jit import HostKernel

API_VERSION: tuple[int, int]

def types() -> dict[str, dict[str, Any]]:
    """Returns the state type of each platform, for registration."""

def handlers() -> dict[str, dict[str, dict[str, Any]]]:
    """Returns the handlers: platform, target, stage."""

def set_hooks(
    inflate: Callable[[bytes, bytes], bytes],
    load_host_kernel: Callable[[bytes, str, dict[str, bytes], bool], HostKernel],
    verify: Callable[[bytes, bytes, str], None],
) -> None:
    """Sets the functions that instantiation calls."""

def host_symbols() -> dict[str, int]:
    """Returns the addresses of the functions that host code may call."""

def driver_status() -> str:
    """Loads the CUDA driver. Returns why it cannot be used, or '' when it can."""

def counters() -> dict[str, int]:
    """Returns how often the slow things happened."""

class Program:
    """A plan that runs at once."""

    def run(self, stream: int, ordinal: int, buffers: list[int]) -> tuple[str, str]:
        """Runs it on addresses. Returns what failed, or '', and a text."""

def load_program(
    platform: str, plan: bytes, images: bytes
) -> Program | tuple[str, str]:
    """Returns a Program, or what failed and a text."""

def launch_host_kernel(
    kernel: HostKernel,
    parameters: bytes,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    cluster: tuple[int, int, int] = (0, 0, 0),
    shared_mem_bytes: int = 0,
    cooperative: bool = False,
) -> None:
    """Runs a kernel on threads of its own; returns after its last block.

    Args:
      kernel: What to run.
      parameters: Their bytes at their offsets: `kernel.param_bytes`. Pointers are host
        addresses.
      grid: Blocks per grid.
      block: Threads per block.
      cluster: Blocks per cluster; zeros for what `__cluster_dims__` says.
      shared_mem_bytes: Dynamic shared memory per block.
      cooperative: Whether all blocks may wait for each other.

    Raises:
      ValidationError: The launch exceeds a limit.
      BackendError: The kernel failed, or was stopped.
    """

def check_plan(plan: bytes, images: bytes) -> str:
    """Decodes a plan. Returns what is wrong with it, or ''."""
