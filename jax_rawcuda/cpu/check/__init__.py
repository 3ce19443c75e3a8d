"""What checked mode must know of the code."""
