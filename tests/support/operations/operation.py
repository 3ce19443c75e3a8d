"""An operation whose result is defined to the last bit, and ways to list many."""

from __future__ import annotations

from dataclasses import dataclass

from support.words import TYPES

ROUNDS = ("rn", "rz", "rd", "ru")
COMPARISONS = tuple(f"a {order} b" for order in ("<", "<=", ">", ">=", "==", "!="))
# The types that conversion intrinsics name, such as __float2ull_rn.
WORDS = {"s32": "int", "u32": "uint", "s64": "ll", "u64": "ull"}


@dataclass(frozen=True)
class Operation:
    """A function of one to three operands a, b, c.

    Attributes:
      name: Unique, such as `add (f32, f32) -> f32`.
      result: The type of the result.
      operands: Types of the operands.
      body: Of a device function that computes it.
    """

    name: str
    result: str
    operands: tuple[str, ...]
    body: str


def family(result: str, operands: str, text: str, **words: str) -> list[Operation]:
    """Reads lines `name: expression`, or `name: statements; return expression`.

    Args:
      result: The type of all results.
      operands: Types of the operands, with blanks between.
      text: The lines; `$word` is replaced by its value in `words`.
    """
    types = tuple(operands.split())
    for word, value in words.items():
        text = text.replace(f"${word}", value)
    found = []
    for line in text.strip().splitlines():
        name, body = line.strip().split(": ", 1)
        body = f"{body};" if "return" in body else f"return {body};"
        found.append(Operation(_full_name(name, result, types), result, types, body))
    return found


def _full_name(name: str, result: str, operands: tuple[str, ...]) -> str:
    return f"{name} ({', '.join(operands)}) -> {result}"


def bits_of(*conditions: str) -> str:
    """Joins truth values into one integer, the first in the lowest bit."""
    return " | ".join(f"({text}) << {bit}" for bit, text in enumerate(conditions))


def each(text: str, **choices: tuple[str, ...]) -> str:
    """Repeats every line with each value of its one `$word`."""
    ((word, values),) = choices.items()
    lines = text.strip().splitlines()
    return "\n".join(line.replace(f"${word}", v) for line in lines for v in values)


def ptx(result: str, operands: str, text: str) -> list[Operation]:
    """Reads PTX instructions, one a line: `add.sat.s32`.

    A line `name: text` spells its operands %0 (the result), %1, %2, %3.
    """
    types = tuple(operands.split())
    found = []
    for line in text.strip().splitlines():
        name, _, spelled = line.strip().partition(": ")
        sources = ", ".join(f"%{k + 1}" for k in range(len(types)))
        inputs = ", ".join(
            f'"{TYPES[t].constraint}"({x})' for t, x in zip(types, "abc", strict=False)
        )
        output = TYPES[result]
        body = (
            f'{output.c} r; asm("{spelled or f"{name} %0, {sources};"}" : '
            f'"={output.constraint}"(r) : {inputs}); return r;'
        )
        name = _full_name(f"ptx {name}", result, types)
        found.append(Operation(name, result, types, body))
    return found
