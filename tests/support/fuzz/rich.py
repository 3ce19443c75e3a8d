"""More of the language for random kernels: halves, structs, pointers, groups."""

from __future__ import annotations

from support.fuzz.expressions import WIDE
from support.fuzz.statements import Statements

PREAMBLE = """
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
namespace cg = cooperative_groups;
struct Row { short small; double wide; unsigned char bytes[3]; };
__device__ __noinline__ Row make_row(double wide, unsigned int bits) {
  Row row{(short)bits, wide, {}};
  for (unsigned int k = 0; k < bits % 4u; k++)
    row.bytes[k] = (unsigned char)(bits >> k);
  return row;
}
__device__ unsigned int depth_of(unsigned int n, unsigned int x) {
  return n == 0 ? x : depth_of(n - 1, x * 3u + n) ^ n;
}
__device__ __noinline__ int sum_of(const int* values, unsigned int n, int& last) {
  unsigned int sum = 0;
  for (unsigned int k = 0; k < n; k++) {
    sum += (unsigned int)values[k];
    last = (int)sum;
  }
  return (int)sum;
}
template <int N> __device__ void sort(int* values) {
  for (int i = 1; i < N; i++)
    for (int j = i; j > 0 && values[j - 1] > values[j]; j--) {
      int kept = values[j];
      values[j] = values[j - 1];
      values[j - 1] = kept;
    }
}
__device__ void raise(unsigned int* total, unsigned int value) {
  unsigned int seen = *total, before;
  do {
    before = seen;
    seen = atomicCAS(total, before, max(before, value));
  } while (seen != before);
}
"""


class RichStatements(Statements):
    """Writes statements over more kinds of values and memory."""

    def declarations(self) -> list[str]:
        """Returns what stands at a kernel's start."""
        return [
            f"__shared__ double wide[{self.block}];",
            f"__shared__ unsigned char bytes[{self.block}];",
            "__shared__ unsigned long long sums[4];",
            "wide[tid] = 0.5 * tid;",
            "bytes[tid] = (unsigned char)gid;",
            "if (tid < 4) sums[tid] = gid;",
            "Row rows[3] = {};",
        ]

    def add_rich(self, uniform: bool) -> None:
        """Adds one statement."""
        simple = [self.half, self.row, self.recursion, self.pointer, self.sorting]
        simple += [self.compare_and_swap, self.vector]
        if uniform:
            simple += [self.wide_exchange, self.byte_exchange, self.wide_sums]
            simple += [self.generic_pointer]
            if self.warps and not self.exited:
                simple += [self.tile, self.tile]
        simple[self.random.below(len(simple))]()

    def half(self) -> None:
        name, type_ = self.target()
        pick = self.random.pick
        word, kind = pick("half __half", "bfloat16 __nv_bfloat16").split()
        a, b, c = (f"__float2{word}_rn({self.make('float', 1)})" for _ in range(3))
        call = pick(
            f"__hfma({a}, {b}, {c})", f"__hadd_rn({a}, {b})", f"__hmul_rn({a}, {b})",
            f"__hsub_rn({a}, {b})", f"__hmax({a}, {b})", f"__hmin({a}, {b})",
            f"{kind}({self.make(pick(*WIDE), 1)})",
        )  # fmt: skip
        if type_ not in ("float", "double"):
            convert = {"int": "int", "unsigned int": "uint", "long long": "ll"}
            to = convert.get(type_, "int")
            self.line(
                f"{name} = ({type_})__{word}2{to}_{pick('rn', 'rz', 'rd')}({call});"
            )
        else:
            self.line(f"{name} = __{word}2float({call});")

    def row(self) -> None:
        name, type_ = self.target()
        index, bits = self.make("unsigned int", 1), self.make("unsigned int", 1)
        self.line(f"rows[{index} % 3u] = make_row({self.make('double', 1)}, {bits});")
        other = self.make("unsigned int", 1)
        field = "bytes[" + self.make("unsigned int", 1) + " % 3u]"
        if type_ in ("float", "double"):
            field = "wide"
        elif self.random.chance(40):
            field = "small"
        self.line(f"{name} = ({type_})rows[{other} % 3u].{field};")

    def recursion(self) -> None:
        name, type_ = self.target()
        # As deep in all threads: those that come back apart are not held together at
        # the next barrier on an H200 (CUDA 13.0).
        depth, value = self.random.below(8), self.make("unsigned int", 1)
        self.line(f"{name} = ({type_})depth_of((blockIdx.x + {depth}u) & 7, {value});")

    def pointer(self) -> None:
        name, type_ = self.target()
        start, count, last = (self.make("unsigned int", 1) for _ in range(3))
        call = f"sum_of(local + ({start} & 3), {count} % 5u, local[{last} & 7])"
        self.line(f"{name} = ({type_}){call};")

    def sorting(self) -> None:
        size = 2 + self.random.below(7)
        self.line(f"sort<{size}>(local);")

    def compare_and_swap(self) -> None:
        slot, value = self.make("unsigned int", 1), self.make("unsigned int", 1)
        self.line(f"raise(&totals[4 + ({slot} & 3)], {value});")

    def vector(self) -> None:
        name, type_ = self.target()
        parts = [self.make("float", 1) for _ in range(4)]
        vector = self.fresh("q")
        self.line(f"const float4 {vector} = make_float4({', '.join(parts)});")
        condition = self.expressions.condition(self.scope)
        x, y = self.random.pick("x", "y"), self.random.pick("z", "w")
        value = f"({condition} ? {vector}.{x} : {vector}.{y})"
        if type_ not in ("float", "double"):
            value = f"__float2int_rz({value})"
        self.line(f"{name} = ({type_}){value};")

    # Threads together

    def wide_exchange(self) -> None:
        name, type_ = self.target()
        shift = self.random.below(self.block)
        self.line(f"wide[tid] = {self.make('double', 2)};")
        self.line("__syncthreads();")
        value = f"wide[(tid * 5u + {shift}u) % {self.block}u]"
        if type_ not in ("float", "double"):
            value = f"__double2int_rn({value})"
        self.line(f"{name} = ({type_}){value};")
        self.line("__syncthreads();")

    def byte_exchange(self) -> None:
        name, type_ = self.target()
        step = 1 + self.random.below(self.block)
        self.line(f"bytes[tid] = (unsigned char)({self.make('unsigned int', 2)});")
        self.line("__syncthreads();")
        total = self.fresh("t")
        self.line(f"unsigned int {total} = 0;")
        self.line(
            f"for (unsigned int k = tid; k < {self.block}u; k += {step}u) "
            f"{total} = {total} * 31u + bytes[k];"
        )
        self.line("__syncthreads();")
        self.line(f"{name} = ({type_}){total};")

    def wide_sums(self) -> None:
        name, type_ = self.target()
        kind = self.random.pick("Add", "Max", "Min", "And", "Or")
        slot, value = self.make("unsigned int", 1), self.make("unsigned long long", 2)
        self.line("__syncthreads();")
        self.line(f"atomic{kind}(&sums[{slot} & 3], {value});")
        self.line("__syncthreads();")
        self.line(f"{name} = ({type_})sums[tid & 3];")
        self.line("__syncthreads();")

    def generic_pointer(self) -> None:
        name, type_ = self.target()
        index = self.make("unsigned int", 1)
        condition = self.expressions.condition(self.scope)
        self.line("__syncthreads();")
        pointer = self.fresh("g")
        self.line(f"const unsigned int* {pointer} = {condition} ? shared : in;")
        self.line(f"{name} = ({type_}){pointer}[{index} % {self.block}u];")
        self.line("__syncthreads();")

    def tile(self) -> None:
        name, type_ = self.target()
        random, tile = self.random, self.fresh("g")
        size = random.pick("32", "16", "8", "4")
        self.line(
            f"auto {tile} = cg::tiled_partition<{size}>(cg::this_thread_block());"
        )
        value, rank = self.make("unsigned int", 2), self.make("unsigned int", 1)
        condition = self.expressions.condition(self.scope)
        operation = random.pick("plus", "less", "greater", "bit_xor")
        call = random.pick(
            f"cg::reduce({tile}, {value}, cg::{operation}<unsigned int>())",
            f"{tile}.shfl({value}, {rank} % {size}u)",
            f"{tile}.shfl_down({value}, {random.below(4)})",
            f"{tile}.shfl_xor({value}, {random.below(4)})",
            f"{tile}.ballot({condition})",
            f"{tile}.any({condition})",
            f"({value} + {tile}.thread_rank() * {tile}.meta_group_rank())",
        )
        self.line(f"{name} = ({type_}){call};")
