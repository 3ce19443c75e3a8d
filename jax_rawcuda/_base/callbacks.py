"""Calls the functions that a declaration holds: `out=`, `launch=`, `template=`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .errors import SignatureError


def ask(
    owner: str,
    what: str,
    function: Callable[..., Any],
    names: Sequence[str],
    args: Sequence[Any],
    keywords: Mapping[str, Any],
) -> Any:
    """Calls a function of the user's with the arguments of a call.

    Args:
      owner: The kernel or op, for messages.
      what: The argument of the declaration that holds the function.
      function: It.
      names: What the positional arguments are called in messages.
      args: The positional arguments.
      keywords: The others.

    Raises:
      SignatureError: The function takes other arguments. What it raises itself comes
        out with a note.
    """
    try:
        return function(*args, **keywords)
    except Exception as error:
        taken = _signature(function)
        if isinstance(error, TypeError) and taken and not _fits(taken, args, keywords):
            given = ", ".join((*names, *(f"{name}=" for name in keywords)))
            raise SignatureError(
                f"{owner}: {what}= takes {taken}, but it is called with the arguments "
                f"of the call, ({given}). Let it take these."
            ) from None
        error.add_note(f"{owner}: in {what}=, called with {[*args]}.")
        raise


def _signature(function: Callable[..., Any]) -> inspect.Signature | None:
    try:
        return inspect.signature(function)
    except ValueError:  # some functions of C have none
        return None


def _fits(
    taken: inspect.Signature, args: Sequence[Any], keywords: Mapping[str, Any]
) -> bool:
    try:
        taken.bind(*args, **keywords)
    except TypeError:
        return False
    return True
