"""Changed kernels: one launch for a whole batch, scalars out of memory."""
