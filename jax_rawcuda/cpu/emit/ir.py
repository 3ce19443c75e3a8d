"""LLVM IR text of one function: lines, calls, labels."""

from __future__ import annotations

from ..abi import CONTEXT
from .state import ModuleState

INVARIANT = ", !invariant.load !9"
PARALLEL = ", !llvm.access.group !1"


class IrWriter:
    """Writes the IR of one function, without knowing PTX.

    Attributes:
      state: What the translation's functions share.
      lines: The IR of the function's body so far.
      prologue: IR that runs once, before the loop over threads.
      thread: i32 value: linear index of the thread in its block.
    """

    thread = "%lt"

    @property
    def thread_index(self) -> tuple[str, str, str]:
        """i32 values of `threadIdx.x`, `.y`, `.z`."""
        return "%tx", "%ty", "%tz"

    def __init__(self, state: ModuleState) -> None:
        self.state = state
        self.lines: list[str] = []
        self.prologue: list[str] = []
        self._once: dict[object, str] = {}
        self._counter = 0

    def line(self, text: str) -> None:
        """Adds one IR line that yields no value."""
        self.lines.append("  " + text)

    def op(self, text: str) -> str:
        """Adds one IR line and returns the name of its value."""
        self._counter += 1
        name = f"%v{self._counter}"
        self.lines.append(f"  {name} = {text}")
        return name

    def intrinsic(self, name: str, result: str, *arguments: tuple[str, str]) -> str:
        """Calls an LLVM intrinsic or a runtime helper.

        Args:
          name: Such as `llvm.sqrt.f32` or `jrc_clock`.
          result: LLVM type of the result, or `void`.
          *arguments: (LLVM type, value) pairs.

        Returns:
          The value, or "" for `void`.
        """
        types = ", ".join(kind for kind, _ in arguments)
        self.state.declarations[name] = f"declare {result} @{name}({types})"
        text = ", ".join(f"{kind} {value}" for kind, value in arguments)
        if result == "void":
            self.line(f"call void @{name}({text})")
            return ""
        return self.op(f"call {result} @{name}({text})")

    def define(self, name: str, text: str) -> None:
        """Adds an internal function, once; `intrinsic` then calls it by `name`.

        Intrinsics that `text` itself calls are declared with `declare`.
        """
        self.state.definitions.setdefault(name, text)

    def declare(self, name: str, result: str, *types: str) -> None:
        """Declares an intrinsic that the text of `define` calls."""
        self.state.declarations[name] = f"declare {result} @{name}({', '.join(types)})"

    def once(self, key: object, *texts: str) -> str:
        """Computes a value once per function, in the prologue.

        Args:
          key: Identifies the value.
          *texts: Right-hand sides; `{0}`, `{1}` are the values of earlier ones.

        Returns:
          The last text's value.
        """
        if key not in self._once:
            values: list[str] = []
            for text in texts:
                name = f"%c{len(self._once)}.{len(values)}"
                self.prologue.append(f"  {name} = {text.format(*values)}")
                values.append(name)
            self._once[key] = values[-1]
        return self._once[key]

    def new_label(self, stem: str = "l") -> str:
        """Returns a fresh label."""
        self._counter += 1
        return f"{stem}.{self._counter}"

    def label(self, label: str) -> None:
        """Starts the block `label`; the block before must have ended."""
        self.lines.append(f"{label}:")

    def branch(self, label: str) -> None:
        """Ends the block with a jump."""
        self.line(f"br label %{label}")

    def branch_if(self, condition: str, then: str, otherwise: str) -> None:
        """Ends the block with a conditional jump on an i1 value."""
        self.line(f"br i1 {condition}, label %{then}, label %{otherwise}")

    def end_thread(self) -> None:
        """Ends the thread (`exit` or a fault) and starts an unreachable block."""
        self.leave()
        self.label(self.new_label("dead"))

    def leave(self) -> None:
        """Ends the block by ending the thread, or the function with it."""
        raise NotImplementedError

    def end_if_faulted(self) -> None:
        """Ends the thread when the call just made recorded a fault."""
        field_pointer = self.op(
            f"getelementptr i8, ptr %ctx, i64 {CONTEXT['faulted'][0]}"
        )
        flag = self.op(f"load volatile i32, ptr {field_pointer}, align 4")
        fine = self.op(f"icmp eq i32 {flag}, 0")
        stop, go = self.new_label("fault"), self.new_label("go")
        self.branch_if(fine, go, stop)
        self.label(stop)
        self.leave()
        self.label(go)

    def context(self, name: str, index: int = 0) -> str:
        """Reads a field of the block context that is constant while the block runs."""
        offset, kind = CONTEXT[name]
        return self.once(
            ("context", name, index),
            f"getelementptr i8, ptr %ctx, i64 {offset + 4 * index}",
            f"load {kind}, ptr {{0}}{INVARIANT}",
        )
