"""Simple statements of random kernels, and those that threads execute together."""

from __future__ import annotations

from support.fuzz.expressions import WIDE, Expressions, Random, Scope

# One kind of atomic update per range of totals, so that their order does not matter.
_ATOMICS = ("Add", "Max", "Min", "Xor")
_ALL = "0xffffffffu"


class Statements:
    """Writes statements over a scope.

    Attributes:
      block: Threads per block.
      warps: Whether all warps are whole: only then may masks be full.
      lines: What is written so far.
      exited: Whether some threads may have returned.
    """

    def __init__(self, seed: int) -> None:
        self.name = f"fuzz_{seed}"
        self.random = Random(seed)
        self.expressions = Expressions(self.random)
        self.block = (32, 64, 96, 128, 50, 7)[self.random.below(6)]
        self.warps = self.block % 32 == 0
        self.lines: list[str] = []
        self.scope = Scope()
        self.counter = 0
        self.exited = False

    # Text

    def line(self, text: str) -> None:
        self.lines.append(text)

    def fresh(self, word: str) -> str:
        self.counter += 1
        return f"{word}{self.counter}"

    def make(self, type_: str, depth: int | None = None) -> str:
        if depth is None:
            depth = (1, 1, 1, 2, 2, 3)[self.random.below(6)]
        return self.expressions.make(self.scope, type_, depth)

    def block_of(self, depth: int, uniform: bool, count: int) -> None:
        """Adds statements whose variables end with them."""
        raise NotImplementedError

    # One thread

    def declare(self, type_: str, value: str | None = None) -> None:
        value = self.make(type_, 2) if value is None else value
        name = self.fresh("v")
        self.line(f"{type_} {name} = {value};")
        self.scope.variables[name] = type_

    def target(self) -> tuple[str, str]:
        names = [n for n in self.scope.variables if n not in self.scope.fixed]
        name = self.random.pick(*names)
        return name, self.scope.variables[name]

    def assign(self) -> None:
        name, type_ = self.target()
        self.line(f"{name} = {self.make(type_)};")

    def store_local(self) -> None:
        if "gid" not in self.scope.variables:
            self.assign()
            return
        self.line(f"local[{self.make('unsigned int', 1)} & 7] = {self.make('int', 2)};")

    def load_local(self) -> None:
        if "gid" not in self.scope.variables:
            self.assign()
            return
        name, type_ = self.target()
        self.line(f"{name} = ({type_})local[{self.make('unsigned int', 1)} & 7];")

    # Threads together

    def update_totals(self) -> None:
        kind = self.random.below(4)
        slot = f"{4 * kind} + ({self.make('unsigned int', 1)} & 3)"
        value = self.make("unsigned int", 2)
        self.line(f"atomic{_ATOMICS[kind]}(&totals[{slot}], {value});")

    def exchange(self) -> None:
        """Passes a value to another thread through shared memory."""
        name, type_ = self.target()
        shift = self.random.below(self.block)
        self.line(f"shared[tid] = {self.make('unsigned int', 1)};")
        self.line("__syncthreads();")
        other = self.random.pick(
            f"(tid + {shift}u) % {self.block}u", f"{self.block - 1}u - tid", f"{shift}u"
        )
        self.line(f"{name} = ({type_})shared[{other}];")
        count = self.random.pick("count", "or", "and")
        if self.random.chance(30):
            condition = self.expressions.condition(self.scope)
            self.line(f"{name} = ({type_})__syncthreads_{count}({condition});")
        else:
            self.line("__syncthreads();")

    def histogram(self) -> None:
        name, type_ = self.target()
        update = self.random.pick(*_ATOMICS)
        bins = 1 + self.random.below(min(self.block, 8))
        self.line("shared[tid] = tid * 3u;")
        self.line("__syncthreads();")
        slot, value = self.make("unsigned int", 2), self.make("unsigned int", 2)
        self.line(f"atomic{update}(&shared[{slot} % {bins}u], {value});")
        self.line("__syncthreads();")
        self.line(f"{name} = ({type_})shared[tid % {bins}u];")
        self.line("__syncthreads();")

    def warp(self) -> None:
        random = self.random
        name, type_ = self.target()
        value = self.make(random.pick(*WIDE), 2)
        word, number = self.make("unsigned int", 2), random.below(32)
        condition = self.expressions.condition(self.scope)
        width = random.pick("32", "16", "8", "4")
        reduction = random.pick("add", "min", "max", "xor")
        self.line(
            f"{name} = ({type_})"
            + random.pick(
                f"__shfl_sync({_ALL}, {value}, {word} & 31, {width})",
                f"__shfl_up_sync({_ALL}, {value}, {number}, {width})",
                f"__shfl_down_sync({_ALL}, {value}, {number}, {width})",
                f"__shfl_xor_sync({_ALL}, {value}, {number}, {width})",
                f"__ballot_sync({_ALL}, {condition})",
                f"__any_sync({_ALL}, {condition})",
                f"__all_sync({_ALL}, {condition})",
                f"__match_any_sync({_ALL}, {word} & 7u)",
                f"__reduce_{reduction}_sync({_ALL}, {word})",
            )
            + ";"
        )

    def divergent_warp(self) -> None:
        """Lets the lanes that take a branch talk to each other."""
        name, type_ = self.target()
        chosen, mask = self.fresh("c"), self.fresh("m")
        self.line(f"const bool {chosen} = {self.expressions.condition(self.scope)};")
        self.line(f"const unsigned int {mask} = __ballot_sync({_ALL}, {chosen});")
        self.line(f"if ({chosen}) {{")
        self.block_of(1, False, 1)
        word, condition = (
            self.make("unsigned int", 2),
            self.expressions.condition(self.scope),
        )
        call = self.random.pick(
            f"__shfl_sync({mask}, {word}, __ffs({mask}) - 1)",
            f"__ballot_sync({mask}, {condition})",
            f"__reduce_add_sync({mask}, {word})",
            f"__all_sync({mask}, {condition})",
        )
        self.line(f"{name} = ({type_}){call};")
        self.line("}")
