"""CUDA kernels on the CPU: CUDA C++ -> PTX (clang) -> LLVM IR -> machine code.

Its reader of PTX serves others as well: `parse`, and what modules are made of.
The rest of the package takes these names, and none from the files below.
"""

from __future__ import annotations

from .frontend.clang import ClangResult as ClangResult
from .frontend.clang import clang_identity as clang_identity
from .frontend.clang import compile_source as compile_source
from .frontend.invoke import ARCH as ARCH
from .jit import HostKernel as HostKernel
from .jit import load_kernel as load_kernel
from .ptx.instruction import Instruction as Instruction
from .ptx.module import Function as Function
from .ptx.module import Module as Module
from .ptx.module import parse as parse
from .ptx.operands import Arguments as Arguments
from .ptx.operands import Integer as Integer
from .ptx.operands import Memory as Memory
from .ptx.operands import Operand as Operand
from .ptx.operands import Register as Register
from .ptx.operands import Sink as Sink
from .ptx.operands import Symbol as Symbol
from .ptx.operands import Tensor as Tensor
from .ptx.operands import Vector as Vector
from .ptx.operands import leaves as leaves
from .ptx.types import SIZES as SIZES
from .ptx.variable import Variable as Variable
