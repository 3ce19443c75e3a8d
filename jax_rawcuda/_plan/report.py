"""Report: which way each launch of a plan takes, and why."""

from __future__ import annotations

from dataclasses import dataclass

from .commands import Launch
from .plan import Plan
from .schedule import Schedule, Way


@dataclass(frozen=True, slots=True)
class LaunchReport:
    """How one launch runs.

    Attributes:
      kernel: Its name.
      image: What it runs from: `cubin`, `ptx`, or `host_ptx` on the CPU.
      grid: Of one batch element, in blocks.
      block: In threads.
      dynamic: Parameters that are passed by value and read from memory.
      at_once: Whether one launch serves all batch elements of a piece.
      reason: Why it does not, where there is a batch; "" otherwise.
    """

    kernel: str
    image: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    dynamic: tuple[str, ...]
    at_once: bool
    reason: str

    def __str__(self) -> str:
        text = f"{self.kernel}: grid={self.grid}, block={self.block}, {self.image}"
        if self.dynamic:
            text += f", {', '.join(self.dynamic)} read from memory"
        if self.at_once:
            return f"{text}, one launch for all elements"
        if self.reason:
            return f"{text}, one launch per element: {self.reason}"
        return text


@dataclass(frozen=True, slots=True)
class PlanReport:
    """How a call of an op or a kernel runs.

    Attributes:
      op_name: The op's or kernel's name.
      elements: Of the batch, 1 without one.
      at_once: Elements that pass one command before the next.
      workspace_bytes: What the workspaces take, in bytes.
      launches: In order.
    """

    op_name: str
    elements: int
    at_once: int
    workspace_bytes: int
    launches: tuple[LaunchReport, ...]

    def __str__(self) -> str:
        text = f"{self.op_name}: {len(self.launches)} launches"
        if self.elements != 1:
            text += f", {self.elements} batch elements"
            pieces = -(-self.elements // self.at_once)
            if pieces > 1 and self.at_once > 1:
                text += f" in {pieces} pieces of at most {self.at_once}"
        if self.workspace_bytes:
            text += f", {self.workspace_bytes} bytes of workspace"
        return "\n".join([text, *(f"  {launch}" for launch in self.launches)])


def report(plan: Plan, schedule: Schedule) -> PlanReport:
    """Describes how a plan runs.

    Args:
      plan: The plan.
      schedule: How it runs.
    """
    launches = [c for c in plan.commands if isinstance(c, Launch)]
    return PlanReport(
        plan.op_name,
        schedule.batch.elements,
        schedule.at_once,
        sum(schedule.allocations(plan)),
        tuple(map(_launch, launches, schedule.ways)),
    )


def _launch(launch: Launch, way: Way) -> LaunchReport:
    parameters = way.function.signature.parameters
    return LaunchReport(
        way.function.name,
        way.image.kind,
        launch.config.grid,
        launch.config.block,
        tuple(parameters[i].name for i in way.dynamic),
        way.at_once,
        way.reason,
    )
