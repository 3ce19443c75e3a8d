"""CUDA C++ to PTX, by clang."""
