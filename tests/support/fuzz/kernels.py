"""Random CUDA kernels without undefined behaviour: the same seed, the same kernel."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from support.fuzz.expressions import FLOATS, TYPES, WIDE
from support.fuzz.rich import PREAMBLE as RICH_PREAMBLE
from support.fuzz.rich import RichStatements
from support.words import splitmix

GRID = 3
TOTALS = 16  # words that all blocks update atomically
RICH = 2000  # seeds from here on make use of `_fuzz_rich`

# NaN has one spelling on a device and many on a host.
PREAMBLE = """
__device__ unsigned int bits(float x) {
  return x != x ? 0x7fffffffu : __float_as_uint(x);
}
__device__ unsigned long long bits(double x) {
  return x != x ? 0x7fffffffffffffffull : (unsigned long long)__double_as_longlong(x);
}
"""
_LONG = ("long long", "unsigned long long", "double")


@dataclass(frozen=True)
class Program:
    """A kernel and its launch.

    Attributes:
      name: The kernel's. Its parameters are `in` (u32[GRID * block, 4], random bits),
        `totals` (u32[TOTALS]) and `out` (u32[GRID * block, words]); both are updated.
      source: CUDA C++ that follows the preamble; others may stand beside it.
      block: Threads per block.
      words: Results per thread.
    """

    name: str
    source: str
    block: int
    words: int

    def input(self, seed: int) -> np.ndarray:
        """Returns the words that the kernel reads."""
        words = splitmix(seed, GRID * self.block * 4) & np.uint64(0xFFFFFFFF)
        return words.astype(np.uint32).reshape(-1, 4)


def fingerprint(seed: int) -> int:
    """Returns 32 bits that change with the kernel of a seed."""
    return zlib.crc32((preamble([seed]) + generate(seed).source).encode())


def preamble(seeds: Sequence[int]) -> str:
    """Returns what the kernels of these seeds need in front of them."""
    return PREAMBLE + (RICH_PREAMBLE if max(seeds) >= RICH else "")


def generate(seed: int) -> Program:
    """Makes a kernel named `fuzz_SEED`."""
    return _Generator(seed).program()


class _Generator(RichStatements):
    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.rich = seed >= RICH

    def program(self) -> Program:
        functions = [self.function() for _ in range(self.random.below(2))]
        self.scope.variables.clear()
        self.lines = []
        self.opening()
        for _ in range(4 + self.random.below(5)):
            self.statement(depth=2, uniform=True)
        words = self.closing()
        body = "\n".join(f"  {line}" for line in self.lines)
        parameters = "const unsigned int* in, unsigned int* totals, unsigned int* out"
        kernel = f"__global__ void {self.name}({parameters}) {{\n{body}\n}}\n"
        return Program(self.name, "".join(functions) + kernel, self.block, words)

    def function(self) -> str:
        """A device function; it may update its last argument through a reference."""
        name = f"{self.name}_{self.fresh('f')}"
        result = self.random.pick(*WIDE, *FLOATS)
        types = tuple(
            self.random.pick(*WIDE, *FLOATS) for _ in range(1 + self.random.below(3))
        )
        self.lines = []
        self.scope.variables = {f"p{k}": t for k, t in enumerate(types)}
        functions, self.scope.functions = self.scope.functions, []
        for _ in range(1 + self.random.below(3)):
            self.statement(depth=1, uniform=False)
        if self.rich:
            condition = self.expressions.condition(self.scope)
            self.line(f"if ({condition}) return {self.make(result)};")
        self.line(f"return {self.make(result)};")
        self.scope.functions = [*functions, (name, result, types)]
        inline = self.random.pick("", "__noinline__ ", "__forceinline__ ")
        parameters = ", ".join(f"{t} p{k}" for k, t in enumerate(types))
        body = "\n".join(f"  {line}" for line in self.lines)
        return f"__device__ {inline}{result} {name}({parameters}) {{\n{body}\n}}\n"

    def opening(self) -> None:
        for text in (
            "const unsigned int tid = threadIdx.x;",
            "const unsigned int gid = blockIdx.x * blockDim.x + tid;",
            f"__shared__ unsigned int shared[{self.block}];",
            "shared[tid] = gid;",
            "__syncthreads();",
            "int local[8];",
            "for (int k = 0; k < 8; k++) local[k] = (int)(gid * 77u) + k;",
            f"unsigned int common = in[blockIdx.x * {self.block}];",
        ):
            self.line(text)
        for text in self.declarations() if self.rich else ():
            self.line(text)
        self.scope.uniform = {"common"}
        self.scope.fixed = {"tid", "gid", "common"}
        self.scope.variables = dict.fromkeys(("tid", "gid", "common"), "unsigned int")
        for index, type_ in enumerate(("int", "unsigned int", "float", "double")):
            word = f"in[gid * 4 + {index}]"
            value = f"({type_}){word}"
            if type_ == "float":  # any bits, or a number of moderate size
                value = self.random.pick(
                    f"__uint_as_float({word})", f"__fmul_rn((float)(int){word}, 1e-6f)"
                )
            if type_ == "double":
                value = f"__dmul_rn((double)(int){word}, 1e-5)"
            self.declare(type_, value)
        for _ in range(2):
            self.declare(self.random.pick(*TYPES))

    def closing(self) -> int:
        words = []
        for name, type_ in self.scope.variables.items():
            value = (
                f"bits({name})" if type_ in FLOATS else f"(unsigned long long){name}"
            )
            words.append(f"(unsigned int){value}")
            if type_ in _LONG:
                words.append(f"(unsigned int)({value} >> 32)")
        words.append("(unsigned int)local[gid & 7]")
        for index, word in enumerate(words):
            self.line(f"out[gid * {len(words)} + {index}] = {word};")
        return len(words)

    def statement(self, depth: int, uniform: bool) -> None:
        """Adds one statement; `uniform`: all threads of the block get here together."""
        simple = [self.assign, self.assign, self.store_local, self.load_local]
        if self.scope.variables.get("gid"):
            simple.append(self.update_totals)
        if uniform:
            simple += [self.exchange, self.histogram]
            if self.warps and not self.exited:
                simple += [self.warp, self.warp, self.divergent_warp]
            if not self.exited and depth == 2 and self.random.chance(4):
                simple.append(self.leave)
        if depth and self.random.chance(38):
            nested = [self.branch, self.loop, self.loop, self.switch]
            nested[self.random.below(4)](depth - 1, uniform)
        elif self.rich and "gid" in self.scope.variables and self.random.chance(50):
            self.add_rich(uniform)
        elif uniform and depth == 2 and self.random.chance(25):
            self.declare(self.random.pick(*TYPES))
        else:
            simple[self.random.below(len(simple))]()

    def block_of(self, depth: int, uniform: bool, count: int) -> None:
        known = dict(self.scope.variables)
        for _ in range(count):
            self.statement(depth, uniform)
        self.scope.variables = known

    def condition(self, uniform: bool) -> tuple[str, bool]:
        """Returns a condition, and whether the threads of the block agree on it."""
        if uniform and self.random.chance(40):
            return f"({self.expressions.uniform(self.scope)} & 1)", True
        return self.expressions.condition(self.scope), False

    def branch(self, depth: int, uniform: bool) -> None:
        condition, together = self.condition(uniform)
        self.line(f"if ({condition}) {{")
        self.block_of(depth, uniform and together, 1 + self.random.below(2))
        if self.random.chance(60):
            self.line("} else {")
            self.block_of(depth, uniform and together, 1 + self.random.below(2))
        self.line("}")

    def loop(self, depth: int, uniform: bool) -> None:
        counter = self.fresh("i")
        together = uniform and self.random.chance(60)
        if together:
            bound = self.random.pick(
                str(1 + self.random.below(5)),
                f"({self.expressions.uniform(self.scope)} & 3)",
            )
        else:
            bound = f"({self.make('unsigned int', 1)} & 7)"
        kind = self.random.below(3)
        limit = self.fresh("n")
        self.line(f"const unsigned int {limit} = {bound};")
        if kind == 0:
            self.line(
                f"for (unsigned int {counter} = 0; {counter} < {limit}; {counter}++) {{"
            )
        else:
            self.line(f"unsigned int {counter} = 0;")
            head = "do {" if kind == 1 else f"while ({counter} < {limit}) {{"
            self.line(head)
        self.scope.variables[counter] = "unsigned int"
        self.scope.fixed.add(counter)
        if kind:  # `continue` must not pass over this
            self.line(f"{counter}++;")
        if not together and self.random.chance(50):
            word = self.random.pick("break", "continue")
            self.block_of(depth, False, 1)
            self.line(f"if ({self.expressions.condition(self.scope)}) {word};")
        self.block_of(depth, together, 1 + self.random.below(2))
        self.line(f"}} while ({counter} < {limit});" if kind == 1 else "}")
        if kind == 0:
            del self.scope.variables[counter]

    def switch(self, depth: int, uniform: bool) -> None:
        together = uniform and self.random.chance(30)
        selector = (
            self.expressions.uniform(self.scope)
            if together
            else self.make("unsigned int", 2)
        )
        self.line(f"switch ({selector} % 5u) {{")
        for case in range(2 + self.random.below(3)):
            self.line(f"case {case}: {{")
            self.block_of(depth, uniform and together, 1 + self.random.below(2))
            self.line("}" if self.random.chance(25) else "} break;")
        self.line("default: {")
        self.block_of(depth, uniform and together, 1)
        self.line("}}")

    def leave(self) -> None:
        """Ends some threads; barriers then wait for the others only."""
        condition = f"(({self.make('unsigned int', 1)}) % 5u == 0u)"
        self.line(f"if ({condition}) return;")
        self.exited = True
