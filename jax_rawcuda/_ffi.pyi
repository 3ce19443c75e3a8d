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

def leave_python() -> None:
    """Keeps kernels that still run from asking the interpreter to print."""

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

def check_plan(plan: bytes, images: bytes) -> str:
    """Decodes a plan. Returns what is wrong with it, or ''."""
