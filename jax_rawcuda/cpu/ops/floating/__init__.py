"""Instructions on floating-point values."""
