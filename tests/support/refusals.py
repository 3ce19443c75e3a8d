"""Rows of what is refused: a call, the error that it raises, and what that says."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import pytest


@dataclass(frozen=True)
class Row:
    """A call that is refused.

    Attributes:
      id: Of the test.
      call: What is refused.
      error: The type of what it raises.
      text: The whole message, in which `...` stands for any text.
    """

    id: str
    call: Callable[..., object]
    error: type[Exception]
    text: str

    def __str__(self) -> str:
        return self.id

    def check(self, *given: object) -> None:
        """Calls with these arguments; the message must be as the row says."""
        with pytest.raises(self.error) as caught:
            self.call(*given)
        message = str(caught.value)
        pattern = ".*".join(map(re.escape, self.text.split("...")))
        assert re.fullmatch(pattern, message, re.DOTALL), message


def table(rows: list[Row]) -> pytest.MarkDecorator:
    """Runs a test, which takes a `row`, for each of them."""
    ids = [row.id for row in rows]
    assert len(set(ids)) == len(ids), "an id stands twice"
    return pytest.mark.parametrize("row", rows, ids=ids)
