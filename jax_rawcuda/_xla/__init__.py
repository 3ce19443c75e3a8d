"""Plan to custom call: the primitive, its lowering and batching, the handlers."""
