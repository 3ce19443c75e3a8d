"""PTX text in, changed PTX text or a reason against it out."""

from __future__ import annotations

import dataclasses
import functools
import re

from .._base.demangle import demangle
from .._base.errors import UnsupportedError
from ..cpu import Instruction, Variable
from .adaptation import Adaptation
from .header import header_edits
from .parameters import Changes, parameter_edits
from .prologue import Names, write_prologue
from .source import UNREADABLE, Edit, Item, Source, first_statement, read_source
from .special import grid_edits, whole_grid_use
from .variables import shared_variable

_CLUSTER = re.compile(r"\.(explicitcluster|reqnctapercluster)\b")
_DEBUG = re.compile(r"\s*,\s*debug\b")
# Nothing writes a scalar while the kernel runs, so a load of it may be cached, moved
# and merged as those of parameters are.
_CONSTANT_LOAD = "global.nc"
# That holds from the wait on only, where the kernel may begin before others have ended.
_LOAD_AFTER_WAIT = "global"


@dataclasses.dataclass(frozen=True, slots=True)
class Rewritten:
    """Changed PTX.

    Attributes:
      ptx: The text: the entry, under its own name, and what it reaches.
    """

    ptx: str


@dataclasses.dataclass(frozen=True, slots=True)
class Refusal:
    """Why an entry cannot be changed.

    Attributes:
      reason: One sentence that begins small, as the kernel's name stands before it; it
        names the instruction and its source line when there is one.
    """

    reason: str


def rewrite(ptx: str, entry: str, adaptation: Adaptation) -> Rewritten | Refusal:
    """Changes an entry of PTX.

    Only the entry and what it reaches remain, so that its module is small. That module
    has variables of its own: an entry that shares one with other kernels, or with its
    own next launch, is refused.

    Args:
      ptx: The text.
      entry: The entry's symbol.
      adaptation: What to change.
    """
    try:
        source = read_source(ptx)
        outcome = _edited(source, entry, adaptation)
    except UNREADABLE as error:
        known = isinstance(error, UnsupportedError)
        why = str(error) if known else "it is not what a compiler writes"
        outcome = _Problem(f"the PTX cannot be read: {why}")
    if isinstance(outcome, _Problem):
        return Refusal(f"{outcome.text}.")
    return Rewritten(outcome)


@functools.lru_cache(maxsize=256)
def kept_state(ptx: str, entry: str) -> str:
    """Says what an entry leaves to, or finds from, other launches; "" if nothing.

    Args:
      ptx: The text.
      entry: The entry's symbol.
    """
    try:
        source = read_source(ptx)
        if entry not in source.definitions:
            return ""
        reason = shared_variable(source, source.reachable(entry))
    except UNREADABLE:
        reason = "the PTX cannot be read"
    return f"{reason}." if reason else ""


@dataclasses.dataclass(frozen=True, slots=True)
class _Problem:
    text: str


def _edited(source: Source, entry: str, adaptation: Adaptation) -> str | _Problem:
    if entry not in source.definitions or not source.function(entry).entry:
        return _Problem("the PTX has no such entry")
    items = source.reachable(entry)
    parameters = source.function(entry).parameters
    problem = (
        _parameter_problem(parameters, adaptation)
        or _reach_problem(source, items, adaptation)
        or shared_variable(source, items)
    )
    if problem:
        return _Problem(problem)
    edits: list[Edit] = []
    names = Names(source.text)
    for outcome in (
        _parameters(source, items, entry, adaptation, names),
        _grid(source, items, adaptation, names),
    ):
        if isinstance(outcome, str):
            return _Problem(outcome)
        edits += outcome
    edits += _drop_debug(source, items)
    return source.apply(items, edits)


def _parameter_problem(parameters: tuple[Variable, ...], adaptation: Adaptation) -> str:
    """Says which changed parameter is not there, or is no pointer."""
    for index in sorted({*adaptation.batched, *adaptation.dynamic}):
        if index >= len(parameters):
            return f"there is no parameter {index}, only {len(parameters)} of them"
        parameter = parameters[index]
        pointer = parameter.type in ("u64", "b64", "s64") and parameter.size == 8
        if index not in adaptation.dynamic and not pointer:
            return f"parameter {parameter.name} is no pointer of 64 bits"
    return ""


def _reach_problem(source: Source, items: list[Item], adaptation: Adaptation) -> str:
    """Says what an instruction or a directive does that a changed entry may not."""
    for item in items:
        if not item.body:
            continue
        if adaptation.axes:
            head = source.blanked[item.start : item.body[0]]
            if found := _CLUSTER.search(head):
                return f"its blocks form clusters, by the directive .{found[1]}"
        for statement in source.statements(item.name):
            instruction = statement.instruction
            what = whole_grid_use(instruction) if adaptation.axes else ""
            if adaptation.dynamic and instruction.name.startswith("cvta.to.param"):
                what = "makes an address in parameters out of another"
            if what:
                return _said(source, item, what, instruction)
    return ""


def _said(source: Source, item: Item, what: str, instruction: Instruction) -> str:
    """Says who does it, unless it is the entry itself."""
    entry = source.function(item.name).entry
    who = "it" if entry else demangle(item.name)
    return f"{who} {what}, in instruction {instruction}"


def _parameters(
    source: Source, items: list[Item], entry: str, adaptation: Adaptation, names: Names
) -> list[Edit] | str:
    """Changes the parameter list, every use of it, and writes the prologue."""
    parameters = [variable.name for variable in source.function(entry).parameters]
    waits = any(
        statement.instruction.name.startswith("griddepcontrol.wait")
        for item in items
        if item.body
        for statement in source.statements(item.name)
    )
    changes = Changes(
        names=parameters,
        pointers={
            parameters[index]: names.address(index)
            for index in adaptation.batched
            if index not in adaptation.dynamic
        },
        values={
            parameters[index]: names.address(index) for index in adaptation.dynamic
        },
        space=_LOAD_AFTER_WAIT if waits else _CONSTANT_LOAD,
    )
    outcome = parameter_edits(source, entry, changes)
    if isinstance(outcome, str):
        return outcome
    item = source.definitions[entry]
    replaced = {index: parameters[index] for index in adaptation.dynamic}
    appended = names.appended(adaptation)
    place = first_statement(source.blanked, *item.body) if item.body else item.end
    prologue = write_prologue(adaptation, parameters, names, wait=waits)
    return [
        *header_edits(source.blanked, item, replaced, appended),
        Edit(place, place, prologue),
        *outcome,
    ]


def _grid(
    source: Source, items: list[Item], adaptation: Adaptation, names: Names
) -> list[Edit] | str:
    """Hides the batch from whoever reads the grid's extent z, or a block's index."""
    edits: list[Edit] = []
    if not adaptation.axes:
        return edits
    for item in items:
        if not item.body:
            continue
        for statement in source.statements(item.name):
            outcome = grid_edits(source, statement, adaptation.grid_z, names.scratch)
            if isinstance(outcome, str):
                return _said(source, item, outcome, statement.instruction)
            edits += outcome
    return edits


def _drop_debug(source: Source, items: list[Item]) -> list[Edit]:
    """Says no longer that there are debug sections; lines stay."""
    return [
        Edit(found.start(), found.end(), "")
        for item in items
        if source.blanked.startswith(".target", item.start)
        for found in _DEBUG.finditer(source.blanked, item.start, item.end)
    ]
