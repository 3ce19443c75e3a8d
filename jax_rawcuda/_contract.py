"""What `rc.kernel` declares about shapes and geometry, parsed once, solved per call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from ._dtypes import element_type
from ._errors import SignatureError, ValidationError
from ._launch import LaunchConfig, ceil_div_grid, dim3, launch_config
from ._shapes import (
    Expression,
    Shape,
    ShapeSpec,
    evaluate,
    evaluate_shape,
    names_in,
    parse_axes,
    parse_shapes,
    solve,
)
from ._signature import Parameter

Axes = int | str | Sequence[int | str]


class Contract:
    """Shapes, results and launch geometry of a kernel.

    Attributes:
      owner: The kernel's name, for messages.
    """

    def __init__(
        self,
        owner: str,
        shapes: str | None,
        out: Any,
        threads: Axes | None,
        block: int | Sequence[int],
        launch: Callable[..., LaunchConfig] | LaunchConfig | None,
        shared_mem_bytes: int | str | Callable[..., int],
    ) -> None:
        self.owner = owner
        if (threads is None) == (launch is None):
            raise ValidationError(
                f"{owner}: give either threads= (elements, divided by block=) or "
                "launch= (a LaunchConfig, or a callable that returns one)."
            )
        if shapes is None and out is None:
            raise ValidationError(
                f'{owner}: the results need shapes="... -> ..." or out=.'
            )
        self.spec: ShapeSpec | None = None
        if shapes is not None:
            self.spec = parse_shapes(shapes, owner=owner)
        self.out = out
        self.threads = None if threads is None else _axes(owner, "threads", threads)
        self.block = dim3(owner, "block", block)
        self.launch = launch
        self.shared: int | Expression | Callable[..., int] = (
            _axes(owner, "shared_mem_bytes", shared_mem_bytes)[0]
            if isinstance(shared_mem_bytes, str)
            else shared_mem_bytes
        )

    @property
    def is_declarative(self) -> bool:
        """Whether no function of the user's takes part."""
        return not any(map(callable, (self.out, self.launch, self.shared)))

    @property
    def dimensions(self) -> frozenset[str]:
        """Names that the shapes use."""
        return frozenset() if self.spec is None else self.spec.names

    def sizes(
        self, operands: Sequence[tuple[str, tuple[int, ...]]], given: Mapping[str, int]
    ) -> dict[str, int]:
        """Solves the dimensions; a scalar decides only what no operand fixes.

        Raises:
          ValidationError: The operands disagree with each other or with a scalar.
        """
        if self.spec is None:
            return dict(given)
        if len(operands) != len(self.spec.inputs):
            raise SignatureError(
                f'{self.owner}: shapes="{self.spec.text}" describes '
                f"{len(self.spec.inputs)} operands; the kernel has {len(operands)} "
                f"({', '.join(name for name, _ in operands)})."
            )
        axes = (axis for shape in self.spec.inputs for axis in shape)
        fixed = frozenset().union(*map(names_in, axes))
        known = {name: size for name, size in given.items() if name not in fixed}
        sizes = solve(self.spec, operands, owner=self.owner, known=known)
        for name, size in given.items():
            if sizes.get(name, size) != size:
                raise ValidationError(
                    f"{self.owner}: scalar '{name}' is {size}, but the operands make "
                    f'{name}={sizes[name]} (shapes="{self.spec.text}"). Leave it out, '
                    "or slice the operands."
                )
        return sizes

    def results(
        self,
        outputs: Sequence[Parameter],
        sizes: Mapping[str, int],
        public: Sequence[Any],
    ) -> list[jax.ShapeDtypeStruct]:
        """Types of the allocated results."""
        if self.out is not None:
            out = self.out(*public) if callable(self.out) else self.out
            types = jax.tree.leaves(out)
        else:
            spec = self.spec
            shapes: tuple[Shape, ...] = () if spec is None else spec.outputs
            types = [
                jax.ShapeDtypeStruct(
                    evaluate_shape(shape, sizes, owner=self.owner),
                    self._element(parameter),
                )
                for parameter, shape in zip(outputs, shapes, strict=False)
            ]
            types += [None] * (len(shapes) - len(types))
        if len(types) != len(outputs):
            names = ", ".join(p.name for p in outputs)
            raise SignatureError(
                f"{self.owner}: {len(types)} results declared; the kernel writes "
                f"{len(outputs)} ({names or 'none'}). Name pointers that are passed in "
                "and written in in_out=."
            )
        return list(types)

    def _element(self, parameter: Parameter) -> np.dtype:
        element = element_type(parameter.pointee or "")
        if element is None:
            raise SignatureError(
                f"{self.owner}: result '{parameter.name}' is `{parameter.type}`, which "
                "has no array dtype. Declare the results with out=."
            )
        return element.dtype

    def config(self, sizes: Mapping[str, int], public: Sequence[Any]) -> LaunchConfig:
        """The launch geometry of one call."""
        if self.launch is not None:
            config = self.launch(*public) if callable(self.launch) else self.launch
            if not isinstance(config, LaunchConfig):
                raise ValidationError(
                    f"{self.owner}: launch returned {config!r}; it must return a "
                    "LaunchConfig."
                )
            return config
        extents = evaluate_shape(
            self.threads or (), sizes, owner=f"{self.owner}: threads"
        )
        threads = (*extents, *(1,) * (3 - len(extents)))
        shared = self.shared
        if callable(shared):
            shared = shared(*public)
        elif not isinstance(shared, int):
            shared = evaluate(shared, sizes, owner=f"{self.owner}: shared_mem_bytes")
        grid = ceil_div_grid((threads[0], threads[1], threads[2]), self.block)
        return launch_config(self.owner, grid, self.block, shared)


def _axes(owner: str, what: str, axes: Axes) -> Shape:
    text = axes
    if not isinstance(text, str):
        parts = [axes] if isinstance(axes, int) else axes
        text = " ".join(f"({part})" for part in parts)
    parsed = parse_axes(text, owner=owner, what=what)
    if len(parsed) > 3:
        raise ValidationError(f"{owner}: {what} has {len(parsed)} axes; CUDA has 3.")
    return parsed
