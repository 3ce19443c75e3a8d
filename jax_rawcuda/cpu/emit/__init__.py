"""Blocks of PTX to LLVM IR."""
