"""Runs clang: once, or in two steps for code that is going to be checked."""

from __future__ import annotations

import subprocess

from .alignment import TYPED_ACCESSES, with_natural_alignment
from .local_bounds import TESTED_INDICES, with_tested_locals
from .toolchain import Clang

ARCH = "sm_90"

# As the front end writes it, before any optimisation.
_TO_TYPED_IR = (
    *("-emit-llvm", "-Xclang", "-disable-llvm-passes"),
    *(*TYPED_ACCESSES, *TESTED_INDICES),
)
_FROM_IR = ("-x", "ir", "--target=nvptx64-nvidia-cuda", f"-march={ARCH}")
_QUIET = "-Wno-unused-command-line-argument"  # half of the flags are about C++

Outcome = tuple[int, str, str]


def run(clang: Clang, folder: str, flags: tuple[str, ...], *, text: str) -> Outcome:
    """Returns the exit code, what clang writes, and its messages.

    Args:
      clang: The compiler.
      folder: Where it runs.
      flags: All of its arguments, except for those that name files.
      text: What it compiles.
    """
    done = subprocess.run(
        [*clang.command, *flags, "-o", "-", "-"],
        input=text.encode(),
        capture_output=True,
        check=False,
        cwd=folder,
    )
    log = done.stderr.decode(errors="replace")
    if done.returncode < 0:
        log += f"clang was killed by signal {-done.returncode}\n"
    return done.returncode, done.stdout.decode(errors="replace"), log


def run_checked(
    clang: Clang, folder: str, flags: tuple[str, ...], *, text: str
) -> Outcome:
    """Does the same for code that keeps what is wrong with its accesses."""
    code, ir, log = run(clang, folder, (*flags, *_TO_TYPED_IR), text=text)
    if code:
        return code, "", log
    language = next(i for i, flag in enumerate(flags) if flag.startswith("-std="))
    further = [flag for flag in flags[language:] if flag.startswith("-f")]
    back_end = (*flags[:language], *further, *_FROM_IR, _QUIET)
    ir = with_natural_alignment(with_tested_locals(ir))
    code, ptx, rest = run(clang, folder, back_end, text=ir)
    return code, ptx, log + rest
