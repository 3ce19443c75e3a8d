"""Which architecture the installed GPU has."""

from __future__ import annotations

import functools


@functools.cache
def installed_arch() -> str | None:
    """Returns the GPUs' architecture, such as `sm_90`, if all have the same one.

    NVML answers without starting CUDA or JAX: the process may still fork, or join a
    cluster.
    """
    try:
        from cuda.bindings import nvml

        nvml.init_v2()
    except Exception:  # no binding, no library, no driver, no GPU: each its own type
        return None
    try:
        handles = map(
            nvml.device_get_handle_by_index_v2, range(nvml.device_get_count_v2())
        )
        found = {tuple(nvml.device_get_cuda_compute_capability(h)) for h in handles}
    except nvml.NvmlError:
        return None
    finally:
        nvml.shutdown()
    if len(found) != 1:
        return None
    major, minor = found.pop()
    return f"sm_{major}{minor}"
