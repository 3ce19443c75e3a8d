"""Facts about a function; nothing is changed."""
