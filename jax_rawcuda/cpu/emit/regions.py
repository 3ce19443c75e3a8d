"""A kernel as parallel regions, each a function with a loop over threads.

One host thread runs all threads of a block. At a barrier each of them waits for the
others, which it cannot do in the middle of a host function: the others would never run.
So the kernel is cut at its sync points. A parallel region is what a thread runs from
one to the next; its function does that for a range of the block's threads, one after
another or in the lanes of vectors, and says for each in which region it goes on. The
scheduler (ffi/cpu/schedule) decides who may go on, and calls.

Registers that live across a sync point sit in arrays indexed by thread, so a suspended
thread is only an index: it needs no stack of its own.
"""

from __future__ import annotations

from ..abi import CONTEXT, EXITED, SyncKind
from ..analysis.graph import Spend, Suspend
from ..analysis.loops import cycles
from ..analysis.row_guards import RowGuard, row_guard
from ..check.actions import Action
from ..check.facts import NO_FACTS, AccessFacts
from ..llvm_types import LLVM_TYPES
from ..ptx.instruction import Instruction
from ..ptx.operands import Memory, Operand, Symbol
from ..ptx.uses import uses_and_definitions
from ..sync.points import SyncPoint, point_registers
from ..transforms.layout import KernelLayout
from . import guards, work_item_loops
from .emitter import Emitter
from .functions import end_block, stack_variable
from .ir import INVARIANT, PARALLEL
from .state import ModuleState
from .values import Pointer

# Metadata numbers below this one have fixed meanings (see translate.py).
_FIRST_LOOP_METADATA = 10
# Of an 8x8 matrix of 16-bit elements.
_ROW_BYTES, _ROWS = 16, 8


class RegionEmitter(Emitter):
    """Writes one region function."""

    parallel = True

    def __init__(
        self,
        state: ModuleState,
        layout: KernelLayout,
        index: int,
        facts: AccessFacts = NO_FACTS,
    ) -> None:
        super().__init__(state, layout.registers, facts)
        self.parallel = not state.checked
        self._layout = layout
        self._index = index
        self._region = layout.regions[index]
        self._blocks = layout.graph.reachable(self._region.start, across=False)
        self._labels = {label: f"L{i}" for i, label in enumerate(self._blocks)}
        self._written = self._find_written()
        # With several regions, each thread must record that it has left.
        single = len(layout.regions) == 1
        self._row_guard: RowGuard | None = None
        if single:
            self._row_guard = row_guard(layout.graph, self._region.start)
        self._indexed = False
        self._x = "%x"

    @property
    def thread_index(self) -> tuple[str, str, str]:
        """i32 values of `threadIdx`, which a loop over rows of threads has."""
        self._indexed = True
        return self._x, "%y", "%z"

    def _find_written(self) -> set[str]:
        written: set[str] = set()
        if self._region.after:
            written.update(point_registers(self._region.after.point)[1])
        for label in self._blocks:
            for inst in self._layout.graph.blocks[label].instructions:
                written.update(uses_and_definitions(inst)[1])
        return written

    @property
    def name(self) -> str:
        """The LLVM name of the function."""
        return f"region.{self._index}"

    def write(self) -> None:
        """Adds the region's function to the translation."""
        self._resume()
        self.branch(self._labels[self._region.start])
        for label in self._blocks:
            block = self._layout.graph.blocks[label]
            self.block = label
            self.label(self._labels[label])
            for inst in block.instructions:
                self.emit(inst)
            match block.terminator:
                case Suspend() as suspend:
                    self._suspend(suspend, self._layout.number(label))
                case Spend(broke, target):
                    self._spend(broke, target)
                case _:
                    end_block(self, block, self._targets(label))
        self.state.functions += self._thread_loop()

    def _targets(self, label: str) -> dict[str, str]:
        """Returns where the terminator of a block goes, by the block's label."""
        guard = self._row_guard
        if guard is None or guard.block != label:
            return self._labels
        return {**self._labels, guard.target: "rowlatch"}

    def _resume(self) -> None:
        """Loads the live registers and the results of the sync point."""
        after, layout = self._region.after, self._layout
        fetched = point_registers(after.point)[1] if after else []
        for name in sorted(layout.live[self._region.start].difference(fetched)):
            kind = self.register_type(name)
            if after is None:  # read before it is written
                value = "zeroinitializer"
            elif kind == "i1":
                byte = self.op(f"load i8, ptr {self._array(name)}, align 1{PARALLEL}")
                value = self.op(f"trunc i8 {byte} to i1")
            else:
                value = self.op(f"load {kind}, ptr {self._array(name)}{PARALLEL}")
            self.line(f"store {kind} {value}, ptr {self.slot(name)}")
        for slot, operand, kind in after.point.results if after else ():
            pointer = self._exchange("sync_out", slot)
            value = self.op(f"load i64, ptr {pointer}{PARALLEL}")
            self.set(operand, kind, self.convert(value, "i64", kind))

    def _suspend(self, suspend: Suspend, number: int) -> None:
        """Stores the operands of the sync point and the changed live registers."""
        point, layout = suspend.point, self._layout
        if self.state.checked:
            self._guard_matrix(suspend.instruction, point)
        for slot, operand, kind in point.inputs:
            value = self._input(operand, kind)
            self.line(
                f"store i64 {value}, ptr {self._exchange('sync_in', slot)}{PARALLEL}"
            )
        fetched = point_registers(point)[1]
        live = layout.live[suspend.resume].difference(fetched)
        for name in sorted(live & self._written):
            kind = self.register_type(name)
            value = self.op(f"load {kind}, ptr {self.slot(name)}")
            if kind == "i1":
                value, kind = self.op(f"zext i1 {value} to i8"), "i8"
            self.line(f"store {kind} {value}, ptr {self._array(name)}{PARALLEL}")
        self._set_next(number)
        self.branch("latch")

    def _guard_matrix(self, inst: Instruction, point: SyncPoint) -> None:
        """Checks the rows that the lanes of ldmatrix and stmatrix point to."""
        if point.kind not in (SyncKind.LDMATRIX, SyncKind.STMATRIX):
            return
        memory = next(operand for _, operand, kind in point.inputs if kind == "address")
        if not isinstance(memory, Memory):
            return
        lane = self.op(f"and i32 {self.thread}, 31")
        asked = self.op(f"icmp ult i32 {lane}, {_ROWS * point.sub}")
        check, done = self.new_label("row"), self.new_label("rows")
        self.branch_if(asked, check, done)
        self.label(check)
        shared = any(word.startswith("shared") for word in inst.modifiers)
        pointer = self.address(memory, "shared" if shared else "generic")
        action = Action.READ if point.kind is SyncKind.LDMATRIX else Action.WRITE
        self.guard(inst, pointer, _ROW_BYTES, action)
        self.branch(done)
        self.label(done)

    def _input(self, operand: Operand, kind: str) -> str:
        if kind == "address" and isinstance(operand, Memory):
            address = self.effective_address(operand)
            return guards.untagged(self, address) if self.state.checked else address
        return self.convert(self.get(operand, kind), kind, "i64")

    def _spend(self, broke: str, target: str) -> None:
        offset = CONTEXT["spin_budget"][0]
        pointer = self.op(f"getelementptr i8, ptr %ctx, i64 {offset}")
        left = self.op(f"load i32, ptr {pointer}")
        left = self.op(f"sub i32 {left}, 1")
        self.line(f"store i32 {left}, ptr {pointer}")
        spent = self.op(f"icmp slt i32 {left}, 0")
        self.branch_if(spent, self._labels[broke], self._labels[target])

    def leave(self) -> None:
        """Ends the thread."""
        if len(self._layout.regions) > 1:
            self._set_next(EXITED)
        self.branch("latch")

    def _set_next(self, number: int) -> None:
        pointer = self.op(f"getelementptr i32, ptr {self.context('next')}, i64 %lt64")
        self.line(f"store i32 {number}, ptr {pointer}{PARALLEL}")

    def _array(self, name: str) -> str:
        """Returns the pointer to the thread's element of a live register's array."""
        kind = self.register_type(name)
        base = self._array_base("slots", self._layout.slots[name])
        element = "i8" if kind == "i1" else kind
        return self.op(f"getelementptr {element}, ptr {base}, i64 %lt64")

    def _exchange(self, field: str, slot: int) -> str:
        base = self._array_base(field, 8 * slot)
        return self.op(f"getelementptr i64, ptr {base}, i64 %lt64")

    def _array_base(self, field: str, bytes_per_thread: int) -> str:
        stride, base = self.context("thread_stride"), self.context(field)
        return self.once(
            ("array", field, bytes_per_thread),
            f"zext i32 {stride} to i64",
            f"mul i64 {{0}}, {bytes_per_thread}",
            f"getelementptr i8, ptr {base}, i64 {{1}}",
        )

    def is_private(self, name: str) -> bool:
        """Whether a symbol is a parameter or local variable of the kernel."""
        return name in self._layout.parameters or name in self._layout.variables

    def is_kernel_parameter(self, pointer: Pointer) -> bool:
        """Whether a pointer was computed from the address of a kernel's parameter."""
        return pointer.origin in self._layout.parameters

    def private_pointer(self, name: str) -> str:
        """Returns the pointer to a parameter or local variable of the kernel."""
        layout = self._layout
        if name in layout.parameters:
            offset = layout.parameters[name]
            return self._parameter_pointer(offset)
        if name not in layout.frame:
            return stack_variable(self, name, layout.variables)
        frame = self.op(f"mul i64 %lt64, {layout.frame_bytes}")
        frame = self.op(f"add i64 {frame}, {layout.frame[name]}")
        return self.op(f"getelementptr i8, ptr {self.context('local')}, i64 {frame}")

    def has_stack_variables(self) -> bool:
        """Whether a local variable is on the stack, where the next thread reuses it."""
        return self._layout.on_stack

    def parameter(self, operand: Operand, offset: int, llvm_type: str) -> str | None:
        """Loads part of a kernel parameter, once, before the thread loop."""
        match operand:
            case Memory(Symbol(name, inner), outer) if name in self._layout.parameters:
                start = self._layout.parameters[name] + inner + outer + offset
                pointer = self._parameter_pointer(start)
                return self.once(
                    ("parameter", start, llvm_type),
                    f"load {llvm_type}, ptr {pointer}, align 1{INVARIANT}",
                )
        return None

    def _parameter_pointer(self, offset: int) -> str:
        params = self.context("params")
        return self.once(
            ("parameter", offset), f"getelementptr i8, ptr {params}, i64 {offset}"
        )

    def _poll_per_thread(self) -> list[str]:
        """Ends the loop over threads when the launch must stop.

        Without a loop of its own, a thread takes little time.
        """
        blocks = self._layout.graph.blocks
        if not cycles(self._blocks, lambda label: blocks[label].successors(False)):
            return []
        return [
            f"  %stop = load volatile i32, ptr {self.context('stop')}, align 4",
            "  %stopped = icmp ne i32 %stop, 0",
            "  br i1 %stopped, label %done, label %go.on",
            "go.on:",
        ]

    def _row_test(self) -> tuple[list[str], str]:
        """Writes the test whether what the guard compares rises along the row."""
        guard = self._row_guard
        if guard is None:
            return [], "true"
        self.lines = []
        ends = [self._values_at(x, guard) for x in ("%x0", "%xl")]
        steps = self.op("sub i32 %xl, %x0")
        passed = "true"
        for rise, first, last in zip(guard.rises, *ends, strict=True):
            kind = LLVM_TYPES[rise.comparison.type]
            width = self.convert(steps, "i32", kind)
            rises = self.op(f"icmp sge {kind} {last}, {first}")
            found = self.op(f"sub {kind} {last}, {first}")
            due = self.op(f"mul {kind} {width}, {rise.stride}")
            exact = self.op(f"icmp eq {kind} {found}, {due}")
            for condition in (rises, exact):
                passed = self.op(f"and i1 {passed}, {condition}")
        return self.lines, passed

    def _values_at(self, x: str, guard: RowGuard) -> list[str]:
        """Returns the values that a guard compares, for a `threadIdx.x`."""
        compared = {id(rise.comparison): rise.operand for rise in guard.rises}
        values = []
        self._x = x
        for inst in guard.instructions:
            if id(inst) in compared:
                values.append(self.get(compared[id(inst)], LLVM_TYPES[inst.type]))
            else:
                self.emit(inst)
        self._x = "%x"
        return values

    def _thread_loop(self) -> list[str]:
        """Wraps the body into a loop over threads."""
        number = _FIRST_LOOP_METADATA + 2 * self._index
        self.state.metadata += [
            f"!{number} = distinct !{{!{number}, !{number + 1}}}",
            f'!{number + 1} = !{{!"llvm.loop.parallel_accesses", !1}}',
        ]
        body = [*self.lines, "latch:", *self._poll_per_thread(), "  br label %step"]
        back = f"!llvm.loop !{number}"
        if self._indexed or self._row_guard is not None:
            width, height = self.context("ntid", 0), self.context("ntid", 1)
            test, passed = self._row_test()
            loop = work_item_loops.over_rows(body, back, width, height, test, passed)
        else:
            loop = work_item_loops.over_threads(body, back)
        return [
            f"define void @{self.name}(ptr %ctx, i32 %t0, i32 %t1) #0 {{",
            "pre:",
            *self.register_slots(),
            *self.prologue,
            *loop,
            "}",
        ]
