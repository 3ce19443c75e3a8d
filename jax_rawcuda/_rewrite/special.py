"""Special registers: what a block must read where grid.z counts the batch as well."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..cpu import SIZES, Instruction, Sink, Vector, leaves
from .source import Edit, Source, Statement

_GRID = re.compile(r"%n?ctaid(?![\w$])")
_INDEX_Z = re.compile(r"%ctaid\.z(?![\w$])")
_EXTENT_Z = re.compile(r"%nctaid\.z(?![\w$])")
_GUARD = re.compile(r"@!?[\w$%]+\s+")
# They count blocks of the whole grid, or know of clusters of them.
_REFUSED = re.compile(
    r"%(?:clusterid|nclusterid|cluster_n?ctaid|cluster_n?ctarank|is_explicit_cluster"
    r"|gridid|envreg\d*)(?![\w$])"
)
_CLUSTER_OPCODES = {"mapa", "getctarank"}


def guard(text: str) -> str:
    """Returns the guard that an instruction begins with, with its space, or ""."""
    found = _GUARD.match(text)
    return found[0] if found else ""


def whole_grid_use(instruction: Instruction) -> str:
    """Says what an instruction does with the grid as a whole, "" if nothing."""
    for name in _specials(instruction):
        if _REFUSED.match(name):
            return f"reads {name}, which counts for the whole grid"
    if instruction.opcode in _CLUSTER_OPCODES or (
        instruction.opcode == "barrier" and instruction.has("cluster")
    ):
        return "works on clusters of blocks"
    return ""


def grid_edits(
    source: Source, statement: Statement, grid_z: int, scratch: str
) -> list[Edit] | str:
    """Changes an instruction that reads the index or extent of the grid along z.

    Args:
      source: The text.
      statement: The instruction.
      grid_z: The user's own extent.
      scratch: A register name that nobody uses.

    Returns:
      The edits, or what is wrong with the instruction.
    """
    text = source.blanked[statement.start : statement.end]
    if not _GRID.search(text):
        return []
    instruction = statement.instruction
    whole = {"%ctaid", "%nctaid"}.intersection(_specials(instruction))
    if whole:
        return _vector_edits(statement, text, grid_z, whole == {"%ctaid"})
    edits = [
        _replaced(statement, found, str(grid_z)) for found in _finds(_EXTENT_Z, text)
    ]
    for found in _finds(_INDEX_Z, text):
        if grid_z == 1:
            edits.append(_replaced(statement, found, "0"))
            continue
        if instruction.opcode == "mov" and SIZES[instruction.type] != 4:
            return "reads %ctaid.z into a register that has not 32 bits"
        front = (
            f"{{ .reg .b32 {scratch}; mov.u32 {scratch}, %ctaid.z; "
            f"rem.u32 {scratch}, {scratch}, {grid_z}; "
        )
        edits += [
            Edit(statement.start, statement.start, front),
            _replaced(statement, found, scratch),
            Edit(statement.end, statement.end + 1, "; }"),
        ]
    return edits


def _specials(instruction: Instruction) -> Iterator[str]:
    for operand in instruction.operands:
        for leaf in leaves(operand):
            name = getattr(leaf, "name", "")
            if name.startswith("%"):
                yield name


def _finds(pattern: re.Pattern[str], text: str) -> list[re.Match[str]]:
    return list(pattern.finditer(text))


def _replaced(statement: Statement, found: re.Match[str], text: str) -> Edit:
    return Edit(statement.start + found.start(), statement.start + found.end(), text)


def _vector_edits(
    statement: Statement, text: str, grid_z: int, index: bool
) -> list[Edit] | str:
    """Corrects the third of the registers that `mov.v4.u32 {a, b, c, d}` has filled."""
    instruction = statement.instruction
    target = instruction.operands[0]
    if not isinstance(target, Vector) or SIZES[instruction.type] != 4:
        return "reads all of %ctaid or %nctaid into one register"
    if len(target.items) < 3 or isinstance(target.items[2], Sink):
        return []
    name = text[text.index("{") + 1 : text.index("}")].split(",")[2].strip()
    fix = f"mov.u32 {name}, {grid_z}"
    if index:
        fix = f"rem.u32 {name}, {name}, {grid_z}"
    return [Edit(statement.end, statement.end, f"; {guard(text)}{fix}")]
