"""What things are: dtypes, arrays, C signatures, scalars, launches."""
