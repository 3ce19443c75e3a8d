"""CUDA C++ in a Python string, called like any `jnp` function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._public import *  # noqa: F403

    __version__: str
else:

    def __getattr__(name: str) -> Any:
        # Importing the package stays cheap: its modules load with the first name used.
        if name == "__version__":
            from importlib.metadata import version

            return version("jax-rawcuda")
        if name == "__all__":  # `from jax_rawcuda import *`
            return __dir__()
        if name == "cpu":  # it needs no JAX
            from importlib import import_module

            return import_module(".cpu", __name__)
        if not name.startswith("_"):
            from . import _public

            if hasattr(_public, name):
                value = globals()[name] = getattr(_public, name)
                return value
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    from . import _public

    return sorted([*(n for n in vars(_public) if n[0] != "_"), "__version__"])
