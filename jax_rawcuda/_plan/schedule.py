"""Schedule: how the launches of a plan run on a platform, and from which images."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

from .._base.errors import UnsupportedError
from .._compile.target import Target, default_target
from .._module.code import ModuleImage
from .._module.module import Function
from .._rewrite.adaptation import Adaptation
from .._rewrite.image import rewritten_image
from .._rewrite.rewriting import Refusal, kept_state
from .batch import Batch, batch_of, workspace_stride
from .commands import DynamicArgument, Launch, PointerArgument, Space
from .plan import Plan

# Elements that run at once, at most: a grid has no more blocks along z.
_MAX_AT_ONCE = 65535
# So do the workspaces of all of them bound it, unless one element takes more; in bytes.
_MAX_WORKSPACE = 256 << 20

_AS_IT_IS = Adaptation()
_CUBIN = "a cubin is machine code, which is not rewritten."


@dataclass(frozen=True, slots=True)
class Way:
    """How one launch runs.

    Attributes:
      function: The kernel.
      adaptation: How its entry was changed; unchanged without batch and dynamic.
      image: What it runs from.
      lowered_name: Its symbol there.
      at_once: Whether one launch serves all elements of a piece of the batch, instead
        of one launch each.
      reason: Why it does not, where there is a batch; "" otherwise.
      dynamic: By-value parameters that are read from memory, by index.
      programmatic: Whether it may start before the kernel in front of it ends.
    """

    function: Function
    adaptation: Adaptation
    image: ModuleImage
    lowered_name: str
    at_once: bool = False
    reason: str = ""
    dynamic: tuple[int, ...] = ()
    programmatic: bool = False


@dataclass(frozen=True, slots=True)
class Schedule:
    """How a plan runs.

    Attributes:
      ways: One per launch, in the order of the commands.
      batch: Where its elements lie.
      at_once: Elements in a piece of the batch, all of which pass one command before
        the next; each has workspaces of its own in it.
    """

    ways: tuple[Way, ...]
    batch: Batch
    at_once: int

    def allocations(self, plan: Plan) -> tuple[int, ...]:
        """What each workspace takes of XLA, in bytes: for all elements of a piece."""
        if self.at_once == 1:
            return plan.allocations
        sizes = zip(plan.workspaces, plan.allocations, strict=True)
        alignments = plan.alignments or (1,) * len(plan.workspaces)
        return tuple(
            workspace_stride(nbytes, align) * self.at_once + allocated - nbytes
            for (nbytes, allocated), align in zip(sizes, alignments, strict=True)
        )


def schedule(plan: Plan, platform: str) -> Schedule:
    """Decides how a plan runs.

    On the CPU the handler itself reads scalars from memory and steps from element to
    element. On a GPU the kernel is changed to do so, where that is possible; otherwise
    the handler launches it once per element.

    Args:
      plan: What to run.
      platform: `cuda` or `cpu`; images are compiled for it.

    Raises:
      CompileError: A module does not compile for the platform.
      UnsupportedError: The platform cannot run a module, or a scalar cannot be read
        from memory.
    """
    launches = [c for c in plan.commands if isinstance(c, Launch)]
    batch = batch_of(plan, own_workspaces=True)
    if batch.elements > 1 and (state := _state(launches, platform)):
        # What one element leaves in a variable, its next command has to find there.
        return _one_by_one(plan, launches, platform, state)
    ways = [_way(plan, launch, batch, platform) for launch in launches]
    most = _most_at_once(plan, launches, ways)
    if most > 1 and batch.elements > 1:
        return Schedule(tuple(ways), batch, min(most, batch.elements))
    if not any(way.at_once for way in ways):
        return Schedule(tuple(ways), batch_of(plan, own_workspaces=False), 1)
    reason = "more blocks along z than a grid has." if batch.elements > 1 else ""
    return _one_by_one(plan, launches, platform, reason)


def _one_by_one(
    plan: Plan, launches: list[Launch], platform: str, reason: str
) -> Schedule:
    """One element after the other passes all commands, in the same workspaces."""
    batch = batch_of(plan, own_workspaces=False)
    nothing = Batch((), batch.elements)
    ways = [_way(plan, launch, nothing, platform) for launch in launches]
    named = (dataclasses.replace(way, reason=reason) for way in ways)
    return Schedule(tuple(named), batch, 1)


def _state(launches: list[Launch], platform: str) -> str:
    """Says which variable of a module launches share, "" if they share none."""
    for function in dict.fromkeys(launch.function for launch in launches):
        target = default_target(platform, function.module.options)
        ptx = function.ptx(target)
        if ptx is None:  # nor does it tell which variables there are
            return _CUBIN
        if reason := kept_state(ptx, function.lowered_name(target)):
            return reason
    return ""


def _most_at_once(plan: Plan, launches: list[Launch], ways: list[Way]) -> int:
    """How many elements may pass one command before the next."""
    if plan.labels is not None:  # checks follow one element
        return 1
    whole = [
        launch.config.grid[2]
        for launch, way in zip(launches, ways, strict=True)
        if way.at_once
    ]
    if launches and not whole:
        return 1
    most = _MAX_AT_ONCE // max(whole, default=1)
    alignments = plan.alignments or (1,) * len(plan.workspaces)
    taken = sum(map(workspace_stride, plan.workspaces, alignments))
    return min(most, max(_MAX_WORKSPACE // taken, 1)) if taken else most


def _way(plan: Plan, launch: Launch, batch: Batch, platform: str) -> Way:
    function = launch.function
    target = default_target(platform, function.module.options)
    image = _image_of(function, target, plan)
    dynamic = tuple(_dynamic(launch))
    symbol = function.lowered_name(target)
    plain = Way(
        function,
        _AS_IT_IS,
        image,
        symbol,
        dynamic=dynamic,
        programmatic=launch.config.programmatic
        and (not dynamic or _waits(function, target)),
    )
    batched = bool(batch.axes)
    reason = _needs_loop(plan, launch) if batched else ""
    if platform == "cpu":
        return dataclasses.replace(plain, at_once=batched and not reason, reason=reason)
    if batched and not reason:
        wanted = Adaptation(
            axes=len(batch.axes),
            batched=tuple(_batched(plan, launch, batch)),
            dynamic=dynamic,
            grid_z=launch.config.grid[2],
        )
        found = _rewritten(function, target, wanted)
        if isinstance(found, ModuleImage):
            return dataclasses.replace(
                plain, adaptation=wanted, image=found, at_once=True
            )
        reason = found.reason
    if not dynamic:
        return dataclasses.replace(plain, reason=reason)
    wanted = Adaptation(dynamic=dynamic)
    found = _rewritten(function, target, wanted)
    if isinstance(found, Refusal):
        names = [function.signature.parameters[i].name for i in dynamic]
        listed = ", ".join(f"'{name}'" for name in names)
        raise UnsupportedError(
            f"{function.name}: scalar {listed} is an array, but this kernel cannot "
            f"read it from memory: {found.reason} Make it a static Python number "
            "(static_argnums), or declare it `const T*` and read it in the kernel."
        )
    return dataclasses.replace(plain, adaptation=wanted, image=found, reason=reason)


def _needs_loop(plan: Plan, launch: Launch) -> str:
    """Why a launch cannot serve several elements, whatever the kernel is."""
    if plan.labels is not None:
        return "checked mode follows one element."
    if launch.config.cooperative:
        return "all blocks of a cooperative launch wait for each other."
    if launch.config.cluster is not None:
        return "clusters are cut from one element's grid."
    return ""


def _waits(function: Function, target: Target) -> bool:
    """Whether a kernel waits for the one in front of it, which may write a scalar."""
    return "griddepcontrol.wait" in (function.ptx(target) or "")


def _dynamic(launch: Launch) -> Iterator[int]:
    for index, argument in enumerate(launch.arguments):
        if isinstance(argument, DynamicArgument):
            yield index


def _batched(plan: Plan, launch: Launch, batch: Batch) -> Iterator[int]:
    """Which arguments differ between the elements."""
    for index, argument in enumerate(launch.arguments):
        if isinstance(argument, PointerArgument | DynamicArgument):
            buffer = argument.ref.index
            if argument.ref.space is Space.RESULT:
                buffer += len(plan.operands)
            if any(batch.strides(buffer)):
                yield index


def _rewritten(
    function: Function, target: Target, adaptation: Adaptation
) -> ModuleImage | Refusal:
    ptx = function.ptx(target)
    if ptx is None:
        return Refusal(_CUBIN)
    image = function.image(target)
    symbol = function.lowered_name(target)
    made = rewritten_image(ptx, symbol, adaptation, target.arch, function.flags)
    if isinstance(made, Refusal):
        return made
    names = ((function.name, symbol),)
    return ModuleImage.of(made.data, made.kind, names, made.kept(image.variables))


def _image_of(function: Function, target: Target, plan: Plan) -> ModuleImage:
    """Returns the image that a plan runs an unchanged kernel from."""
    if plan.labels is not None and target.platform == "cpu":
        target = dataclasses.replace(target, checked=True)
    return function.image(target)
