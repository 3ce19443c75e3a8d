"""What a session recorded, as a value, and its bytes."""
