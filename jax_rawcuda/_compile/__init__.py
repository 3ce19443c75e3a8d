"""Text to image: which compiler, what it says, what it leaves."""
