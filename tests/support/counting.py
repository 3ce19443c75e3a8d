"""Counts what XLA compiles while a test runs."""

from __future__ import annotations

import contextlib

import jax

EVENT = "/jax/core/compile/backend_compile_duration"


@contextlib.contextmanager
def xla_compiles():
    """Yields a list that grows by one with each program that XLA compiles."""
    seen = []

    def note(event, seconds, **_more):
        if event == EVENT:
            seen.append(seconds)

    jax.monitoring.register_event_duration_secs_listener(note)
    try:
        yield seen
    finally:
        jax.monitoring.unregister_event_duration_listener(note)
