"""Recording: what an op sees while it is traced."""
