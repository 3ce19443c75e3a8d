"""Report: which way each launch of a plan takes, in words."""

from __future__ import annotations

from .plan import Plan
from .schedule import Schedule, Way


def report(plan: Plan, schedule: Schedule) -> str:
    """Describes how a plan runs, one line per launch.

    Args:
      plan: The plan.
      schedule: How it runs.
    """
    elements = schedule.batch.elements
    head = f"{plan.op_name}: {len(schedule.ways)} launches"
    if elements != 1:
        pieces = -(-elements // schedule.at_once)
        head += f", {elements} batch elements"
        if pieces > 1 and schedule.at_once > 1:
            head += f" in {pieces} pieces of at most {schedule.at_once}"
    return "\n".join([head, *(f"  {_line(way, elements)}" for way in schedule.ways)])


def _line(way: Way, elements: int) -> str:
    text = f"{way.function.name}: {way.image.kind}"
    parameters = way.function.signature.parameters
    if names := [parameters[i].name for i in way.adaptation.dynamic]:
        text += f", {', '.join(names)} read from memory"
    if way.at_once:
        return f"{text}, one launch for all elements of a piece"
    if elements != 1:
        return f"{text}, one launch per element: {way.reason or 'nothing to gain.'}"
    return text
