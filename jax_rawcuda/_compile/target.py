"""Target: what an image is made for, and which one fits the devices at hand."""

from __future__ import annotations

import dataclasses
import functools
from typing import Literal

from .._base.errors import ValidationError
from .._device.installed import installed_arch
from .._source.options import NvrtcOptions
from . import nvrtc

# With no GPU in sight, code is made for this one.
COMMON_ARCH = "sm_90"


@dataclasses.dataclass(frozen=True, slots=True)
class Target:
    """What an image is made for.

    Attributes:
      platform: `cuda` or `cpu`.
      arch: `sm_90` (a cubin), `compute_90` (PTX), "" on the CPU.
      checked: Whether accesses are going to be checked, on the CPU.
    """

    platform: Literal["cuda", "cpu"]
    arch: str = ""
    checked: bool = False


def default_target(platform: str, options: NvrtcOptions | None = None) -> Target:
    """Returns the target for the devices that JAX has here.

    On `cuda`, `options.arch` comes first, then the first device's own architecture, as
    a cubin. A device that NVRTC does not know yet gets the newest PTX that it can run.
    With no device it is PTX too, so that one export serves several GPUs.
    """
    if platform == "cpu":
        return Target("cpu")
    if platform not in ("cuda", "gpu"):
        raise ValidationError(f"platform={platform!r}: 'cuda' or 'cpu' is needed.")
    if options is not None and options.arch is not None:
        return Target("cuda", options.arch)
    number = _device_arch()
    if number is None:
        return Target("cuda", COMMON_ARCH.replace("sm", "compute"))
    return Target("cuda", arch_for(number))


def source_arch(options: NvrtcOptions) -> str:
    """Returns the architecture to read a source for. Does not start JAX's backends."""
    if options.arch is not None:
        return options.arch
    installed = installed_arch()
    return arch_for(int(installed.removeprefix("sm_"))) if installed else COMMON_ARCH


def arch_for(number: int) -> str:
    """Returns what to compile for a device of this compute capability."""
    if not nvrtc.is_available():
        return f"sm_{number}"
    known = nvrtc.supported_archs()
    if number in known or number < known[0]:  # too old: NVRTC's error lists the archs
        return f"sm_{number}"
    return f"compute_{max(other for other in known if other < number)}"


@functools.cache
def _device_arch() -> int | None:
    """The compute capability of JAX's first GPU here, such as 90, None without one."""
    import jax

    try:
        devices = jax.local_devices(backend="cuda")
    except RuntimeError:
        return None
    capability = getattr(devices[0], "compute_capability", None) if devices else None
    return int(str(capability).replace(".", "")) if capability else None
