"""Python programs in processes of their own, which must not crash."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap


def run_python(program, *, timeout=120, **environment):
    """Runs a program that must end well; returns what it printed."""
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=timeout,
        env={**os.environ, **environment},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
