"""jax.export: the calls of this package that an exported program may hold."""

from __future__ import annotations

from typing import Any

import jax


def export_safety_checks() -> list[Any]:
    """Returns what `jax.export.export(..., disabled_checks=)` needs.

    A plan is self-contained, so that the exported program runs in a process that has
    only imported this package.
    """
    from ._registration import SYNC_TARGET, TARGET

    check = jax.export.DisabledSafetyCheck
    return [check.custom_call(target) for target in (TARGET, SYNC_TARGET)]
