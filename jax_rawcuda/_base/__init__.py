"""Ground: what every stage stands on, and that knows none of them."""
