"""CUDA C++ in a Python string, called like any `jnp` function."""

from importlib.metadata import version as _version

__version__ = _version("jax-rawcuda")
