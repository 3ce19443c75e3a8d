"""RuntimeIdentity: which devices and which versions an op is recorded for."""

from __future__ import annotations

from dataclasses import dataclass

import jax
import jaxlib


@dataclass(frozen=True, slots=True)
class RuntimeIdentity:
    """What runs a session.

    Attributes:
      platform: `cpu` or `gpu`, JAX's default backend.
      device_kind: The device's own name.
      compute_capability: Such as `9.0`; None where there is none.
      platform_version: The backend's description, with the CUDA versions on a GPU.
      jax: JAX's version.
      jaxlib: jaxlib's version.
    """

    platform: str
    device_kind: str
    compute_capability: str | None
    platform_version: str
    jax: str
    jaxlib: str


def runtime_identity() -> RuntimeIdentity:
    """Returns what JAX's default backend is; starts it if need be."""
    device = jax.local_devices()[0]
    capability = getattr(device, "compute_capability", None)
    return RuntimeIdentity(
        platform=str(device.platform),
        device_kind=str(device.device_kind),
        compute_capability=None if capability is None else str(capability),
        platform_version=str(device.client.platform_version),
        jax=jax.__version__,
        jaxlib=jaxlib.__version__,
    )
