"""Graph to graph."""
