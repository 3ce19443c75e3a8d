"""PTX of one kernel -> LLVM IR text and what the scheduler must know about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .._base.demangle import demangle
from .._base.errors import UnsupportedError
from .analysis import stack
from .analysis.call_graph import Calls, callers, count_calls, must_inline
from .analysis.expansion import check_length, kept_functions, long_functions
from .analysis.graph import Suspend, build
from .check import actions
from .check.facts import NO_FACTS, AccessFacts, access_facts
from .check_table import CheckTable, check_table
from .emit.functions import FunctionEmitter
from .emit.regions import RegionEmitter
from .emit.state import ModuleState
from .emit.variables import Variables, device_symbol
from .ops.table import OPCODES
from .ptx.calls import parse_call
from .ptx.instruction import Instruction
from .ptx.limits import check_cluster, check_shared, check_sizes
from .ptx.module import Function, Module, parse
from .ptx.operands import Symbol
from .ptx.types import round_up
from .ptx.verify import verify
from .transforms import cuts, polls
from .transforms.fold import fold_sync_operands
from .transforms.inline import flatten
from .transforms.layout import KernelLayout
from .transforms.nans import make_nans_canonical
from .transforms.rematerialize import rematerialize

# Turns of a spin loop before a thread lets others run.
SPIN_BUDGET = 2000
_NO_SYNC = (0,) * 8
# Large frames touch every page, so that none reaches over the stack's guard page.
_ATTRIBUTES = 'attributes #0 = { nounwind "probe-stack"="inline-asm" }'
# Helpers that record a fault and return.
_FAULTING_OPCODES = ("trap", "mapa")
_FAULTING_CALLS = ("__assertfail",)


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelDescriptor:
    """What the scheduler must know of a kernel besides its code.

    Attributes:
      syncs: What each region waits for before it starts, as eight integers:
        `SyncPoint.descriptor`. All zeros for region 0.
      sync_texts: The same for messages: `file.cu:12: bar.sync 0`.
      sites: Text of each place that may fault.
      slot_bytes: Size of the live registers, per thread.
      frame_bytes: Size of the local variables that outlive a region, per thread.
      shared_bytes: Static shared memory, per block.
      n_in: Most 64-bit operands of a sync point.
      n_out: Most 64-bit results of a sync point.
      params: (offset, size) of each parameter.
      param_bytes: Size of the parameter block.
      spin_budget: Turns of spin loops before a thread lets others run.
      max_threads: `__launch_bounds__`, or 0.
      cluster: `__cluster_dims__`, or zeros.
      checks: What the checks need, None if there are none in the code.
    """

    syncs: tuple[tuple[int, ...], ...]
    sync_texts: tuple[str, ...]
    sites: tuple[str, ...]
    slot_bytes: int
    frame_bytes: int
    shared_bytes: int
    n_in: int
    n_out: int
    params: tuple[tuple[int, int], ...]
    param_bytes: int
    spin_budget: int
    max_threads: int
    cluster: tuple[int, int, int]
    checks: CheckTable | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Translation(KernelDescriptor):
    """LLVM IR of a kernel.

    Attributes:
      ir: The text of the module.
      regions: Names of the region functions in it.
      external: The module's variables that it expects to find in memory.
    """

    ir: str
    regions: tuple[str, ...]
    external: tuple[str, ...]


def translate(ptx: str, kernel: str, *, checked: bool = False) -> Translation:
    """Translates a kernel and the device functions that it reaches.

    Args:
      ptx: The module's PTX.
      kernel: The kernel's lowered name.
      checked: Whether the code asks before each access.

    Raises:
      UnsupportedError: Something that can be reached is not available on the CPU.
    """
    module = parse(ptx)
    function = module.functions.get(kernel)
    if function is None or not function.entry:
        names = sorted(name for name, f in module.functions.items() if f.entry)
        raise UnsupportedError(
            f"{kernel}: the PTX has no such kernel. It has: {', '.join(names)}."
        )
    red_zone = actions.RED_ZONE if checked else 0
    reachable = module.reachable(kernel)
    check_sizes(module, kernel, reachable)
    for name in reachable:
        verify(kernel, module.functions[name].body)
        make_nans_canonical(module.functions[name].body)
    calls = count_calls(module, reachable)
    inlined = must_inline(module, calls)
    check_length(module, kernel, calls, inlined)
    # These ask whether there is stack left, and whether the launch is to stop.
    deep = stack.deep_functions(module, reachable) | long_functions(module, calls)
    state = ModuleState(
        variables=Variables(module, reachable, red_zone),
        opcodes=OPCODES,
        may_fault=frozenset(reachable if checked else _may_fault(module, calls, deep)),
        deep=frozenset(deep),
        pointed=_pointed(module, reachable, inlined),
        kept=frozenset(kept_functions(module, calls)),
        checked=checked,
    )
    variables = state.variables
    check_shared(kernel, variables.shared_bytes - variables.red_zone_bytes)
    offsets, param_bytes = _place_parameters(function)
    layout, facts = _lay_out(module, function, inlined, offsets, checked)
    regions = []
    for index in range(len(layout.regions)):
        region = RegionEmitter(state, layout, index, facts)
        region.write()
        regions.append(region.name)
    for name in reachable:
        device = module.functions[name]
        if name != kernel and not device.extern and name not in inlined:
            FunctionEmitter(state, device).write()
    _refuse_addresses(module, state, inlined - {kernel})
    points = [region.after for region in layout.regions]
    return Translation(
        ir=_module_text(state),
        regions=tuple(regions),
        external=tuple(state.variables.external),
        syncs=tuple(s.point.descriptor() if s else _NO_SYNC for s in points),
        sync_texts=tuple(_describe(s) if s else "" for s in points),
        sites=tuple(state.sites),
        slot_bytes=layout.slot_bytes,
        frame_bytes=layout.frame_bytes,
        shared_bytes=state.variables.shared_bytes,
        n_in=max((s.point.n_in for s in points if s), default=0),
        n_out=max((s.point.n_out for s in points if s), default=0),
        params=tuple((offsets[p.name], p.size) for p in function.parameters),
        param_bytes=param_bytes,
        spin_budget=SPIN_BUDGET,
        max_threads=function.max_threads or 0,
        cluster=_cluster(function),
        checks=check_table(module, state, layout) if checked else None,
    )


def _place_parameters(function: Function) -> tuple[dict[str, int], int]:
    """Returns the offset of each parameter, and the size of all together, in bytes."""
    offsets: dict[str, int] = {}
    end = 0
    for parameter in function.parameters:
        end = round_up(end, parameter.align)
        offsets[parameter.name] = end
        end += parameter.size
    return offsets, end


def _lay_out(
    module: Module,
    function: Function,
    inlined: set[str],
    parameters: Mapping[str, int],
    checked: bool,
) -> tuple[KernelLayout, AccessFacts]:
    """Cuts a kernel into parallel regions, and finds what checks must know of it."""
    flat = flatten(module, function, inlined)
    graph = build(fold_sync_operands(flat.statements), flat.targets)
    facts = access_facts(flat.statements, graph) if checked else NO_FACTS
    cuts.cut_spin_loops(graph)
    synchronises = any(
        isinstance(block.terminator, Suspend) for block in graph.blocks.values()
    )
    # The first cut moves local arrays from registers and stack to memory.
    if synchronises or not flat.framed:
        cuts.cut_loops(graph)
    rematerialize(graph, parameters)
    polls.add_polls(graph)
    red_zone = actions.RED_ZONE if checked else 0
    layout = KernelLayout(
        graph, flat.registers, flat.variables, flat.framed, parameters, red_zone
    )
    return layout, facts


def _may_fault(module: Module, calls: Calls, deep: set[str]) -> set[str]:
    """Returns the functions after whose call a thread may have faulted."""

    def faults(inst: Instruction) -> bool:
        if inst.opcode != "call":
            return inst.opcode in _FAULTING_OPCODES
        target = parse_call(inst).target
        return not isinstance(target, Symbol) or target.name in _FAULTING_CALLS

    direct = set(deep)
    for name in calls:
        function = module.functions[name]
        if stack.may_poll(function) or any(
            isinstance(statement, Instruction) and faults(statement)
            for statement in function.body.statements
        ):
            direct.add(name)
    return callers(calls, direct)


def _pointed(
    module: Module, names: list[str], inlined: set[str]
) -> dict[int, list[str]]:
    """Returns the symbols of the functions that a pointer may hold, by arity."""
    if not any(stack.calls_pointers(module.functions[name]) for name in names):
        return {}
    found: dict[int, list[str]] = {}
    for name in names:
        function = module.functions[name]
        if not (function.entry or function.extern or name in inlined):
            arity = len(function.results) + len(function.parameters)
            found.setdefault(arity, []).append(device_symbol(name))
    return found


def _refuse_addresses(module: Module, state: ModuleState, inlined: set[str]) -> None:
    """Refuses pointers to functions that exist only where they are called."""
    text = "\n".join([*state.variables.definitions, *state.functions])
    for name in sorted(inlined):
        if device_symbol(name) in text:
            places = (
                s.location for s in module.functions[name].body.statements
                if isinstance(s, Instruction)
            )  # fmt: skip
            place = next((f" at {p}" for p in places if p), "")
            raise UnsupportedError(
                f"function {demangle(name)}{place} waits for other threads, so it "
                "cannot be called through a pointer on the CPU. Call it by its name."
            )


def _describe(suspend: Suspend) -> str:
    inst = suspend.instruction
    where = f"{inst.location}: " if inst.location else ""
    return where + inst.line


def _cluster(function: Function) -> tuple[int, int, int]:
    if "reqnctapercluster" not in function.directives:
        return 0, 0, 0
    x, y, z = (*function.directives["reqnctapercluster"], 1, 1)[:3]
    check_cluster(function.name, (x, y, z))
    return x, y, z


def _module_text(state: ModuleState) -> str:
    declarations = [
        text
        for name, text in state.declarations.items()
        if name not in state.definitions
    ]
    return "\n".join(
        [
            _ATTRIBUTES,
            *state.variables.definitions,
            *sorted(declarations),
            *state.definitions.values(),
            *state.functions,
            "!1 = distinct !{}",
            "!9 = !{}",
            *state.metadata,
            "",
        ]
    )
