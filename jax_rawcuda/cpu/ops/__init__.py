"""PTX instructions as LLVM IR, one module per family; `table` merges them."""
