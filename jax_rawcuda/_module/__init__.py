"""Image to `Module` and `Function`: what a user holds."""
