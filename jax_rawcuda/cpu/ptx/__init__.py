"""PTX as values."""
