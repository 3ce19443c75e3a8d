"""CUDA kernels on the CPU: CUDA C++ -> PTX (clang) -> LLVM IR -> machine code.

The rest of the package takes these names, and none from the files below.
"""

from __future__ import annotations

from .check.actions import PRAGMA as PRAGMA
from .frontend.clang import ClangResult as ClangResult
from .frontend.clang import clang_identity as clang_identity
from .frontend.clang import compile_source as compile_source
from .frontend.invoke import ARCH as ARCH
from .jit import HostKernel as HostKernel
from .jit import load_kernel as load_kernel
