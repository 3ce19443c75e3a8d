"""jax.export: the calls of this package that an exported program may hold."""

from __future__ import annotations

from typing import Any

import jax


def register() -> None:
    """Makes the calls of this package known to XLA.

    Using a kernel or an op does so by itself. A process that only runs a program it
    got from `jax.export.deserialize` calls this first.

    Raises:
      ImportError: The package was built for a newer jaxlib.
    """
    # Exported programs name the kind of effect that they have.
    from . import registration
    from . import side_effects as side_effects

    registration.register()


def export_safety_checks() -> list[Any]:
    """Returns what `jax.export.export(..., disabled_checks=)` needs.

    A plan is self-contained: the exported program runs in a process that has only
    imported this package and called `register`.
    """
    from .registration import SYNC_TARGET, TARGET

    check = jax.export.DisabledSafetyCheck
    return [check.custom_call(target) for target in (TARGET, SYNC_TARGET)]
