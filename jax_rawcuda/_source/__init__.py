"""The user's text, before any compiler has seen it."""
