"""CUDA kernels on the CPU: CUDA C++ -> PTX (clang) -> LLVM IR -> machine code."""

from .clang import ClangResult as ClangResult
from .clang import clang_identity as clang_identity
from .clang import compile_source as compile_source
from .jit import HostKernel as HostKernel
from .jit import load_kernel as load_kernel
