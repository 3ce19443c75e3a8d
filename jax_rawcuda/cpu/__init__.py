"""CUDA kernels on the CPU: CUDA C++ -> PTX (clang) -> LLVM IR -> machine code."""

from __future__ import annotations

from .frontend.clang import ClangResult as ClangResult
from .frontend.clang import clang_identity as clang_identity
from .frontend.clang import compile_source as compile_source
from .jit import HostKernel as HostKernel
from .jit import load_kernel as load_kernel
