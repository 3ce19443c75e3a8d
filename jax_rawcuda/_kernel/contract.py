"""What `rc.kernel` declares about shapes and geometry, parsed once, solved per call."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from .._base.callbacks import ask
from .._base.errors import SignatureError, ValidationError, counted
from .._types.dtypes import accepts, element_type
from .._types.launch import LaunchConfig, ceil_div_grid, launch_config
from .._types.shape_syntax import Expression, Extents, ShapeSpec, names_in, parse_shapes
from .._types.shapes import Solution, evaluate, evaluate_shape, solve
from .._types.signature import Parameter
from .extents import Axes, parse_block, parse_shared, parse_threads


@dataclass(frozen=True, slots=True)
class CallArguments:
    """What a function in a declaration is called with.

    Attributes:
      passed: In the order of the parameters, by their names.
      keywords: Dimensions that no parameter has the name of.
    """

    passed: Mapping[str, Any]
    keywords: Mapping[str, int]


class Contract:
    """Shapes, results and launch geometry of a kernel.

    Attributes:
      owner: The kernel's name, for messages.
    """

    def __init__(
        self,
        owner: str,
        *,
        shapes: str | None,
        out: Any,
        threads: Axes | None,
        block: int | Sequence[int] | None,
        launch: Callable[..., LaunchConfig] | LaunchConfig | None,
        shared_mem_bytes: int | str | Callable[..., int],
        fill: Any,
    ) -> None:
        self.owner = owner
        if (threads is None) == (launch is None):
            raise ValidationError(
                f"{owner}: give either threads= (elements, divided by block=) or "
                "launch= (a LaunchConfig, or a callable that returns one)."
            )
        if launch is not None and (block is not None or shared_mem_bytes != 0):
            raise ValidationError(
                f"{owner}: block= and shared_mem_bytes= go with threads=. With launch= "
                "they stand in the LaunchConfig."
            )
        if shapes is None and out is None:
            raise ValidationError(
                f'{owner}: the results need shapes="... -> ..." or out=.'
            )
        self.spec: ShapeSpec | None = None
        if shapes is not None:
            self.spec = parse_shapes(shapes, owner=owner)
        self.out = out
        self.threads = None if threads is None else parse_threads(owner, threads)
        self.block = parse_block(owner, block)
        self.launch = launch
        self.shared = parse_shared(owner, shared_mem_bytes)
        self.fill = fill
        self._check_names("threads", self.threads or ())
        if isinstance(self.shared, Expression):
            self._check_names("shared_mem_bytes", (self.shared,))

    @property
    def is_declarative(self) -> bool:
        """Whether no function of the user's takes part."""
        return not any(map(callable, (self.out, self.launch, self.shared)))

    @property
    def dimensions(self) -> frozenset[str]:
        """Names that the shapes use."""
        return frozenset() if self.spec is None else self.spec.names

    @property
    def free(self) -> frozenset[str]:
        """Dimensions that only results have."""
        if self.spec is None:
            return frozenset()
        return self.dimensions - self.spec.input_names

    def solve(
        self,
        operands: Sequence[tuple[str, tuple[int, ...]]],
        given: Mapping[str, int],
        choices: Collection[str],
    ) -> Solution:
        """Solves the dimensions; a scalar decides only what no operand fixes.

        Args:
          operands: (name, shape) pairs.
          given: Dimensions that the call passes.
          choices: Those that it may pass.

        Raises:
          ValidationError: The operands disagree with each other or with a scalar, or
            neither tells a dimension of the results.
        """
        if self.spec is None:
            return Solution(given)
        if len(operands) != len(self.spec.inputs):
            raise SignatureError(
                f'{self.owner}: shapes="{self.spec.text}" describes '
                f"{counted(len(self.spec.inputs), 'operand')}; the kernel has "
                f"{len(operands)} ({', '.join(name for name, _ in operands)})."
            )
        fixed = self.spec.input_names
        known = {name: size for name, size in given.items() if name not in fixed}
        solution = solve(self.spec, operands, owner=self.owner, known=known)
        sizes = solution.sizes
        for name, size in given.items():
            if sizes.get(name, size) != size:
                raise ValidationError(
                    f"{self.owner}: scalar '{name}' is {size}, but the operands make "
                    f'{name}={sizes[name]} (shapes="{self.spec.text}"). Leave it out, '
                    "or slice the operands."
                )
        for name in sorted(self.dimensions - sizes.keys()):
            raise ValidationError(self._unknown(name, sizes, name in choices))
        return solution

    def _unknown(self, name: str, sizes: Mapping[str, int], may_pass: bool) -> str:
        known = ", ".join(f"{n}={size}" for n, size in sorted(sizes.items()))
        fault = f"{self.owner}: no operand has dimension '{name}' of the results"
        advice = (
            f"Pass it by keyword, such as {name}=16."
            if may_pass
            else "The parameter of that name is no integer: call one of them "
            "otherwise, write the size out, or declare the results with out=."
        )
        return f"{fault} (known: {known or 'none'}). {advice}"

    def _check_names(self, what: str, expressions: Extents) -> None:
        """Refuses what reads a dimension that the shapes do not have."""
        names = frozenset().union(*map(names_in, expressions)) - self.dimensions
        for name in sorted(names):
            fault = f"{self.owner}: {what} reads '{name}', "
            if self.spec is None:
                raise ValidationError(
                    f"{fault}a dimension, which only shapes= can name. Say "
                    f'shapes="... -> {name}", with out= or without, or replace '
                    f"threads= by launch=lambda ...: rc.LaunchConfig.flat({name})."
                )
            raise ValidationError(
                f'{fault}which shapes="{self.spec.text}" does not name. Name it there, '
                "or compute it in launch=."
            )

    def results(
        self,
        outputs: Sequence[Parameter],
        solution: Solution,
        call: CallArguments,
        dtypes: Mapping[str, frozenset[np.dtype]],
    ) -> list[jax.ShapeDtypeStruct]:
        """Types of the allocated results.

        Args:
          outputs: Their parameters.
          solution: The dimensions.
          call: Its arguments, for a function of the user's.
          dtypes: What the operands hold, per type that they point to.
        """
        shapes = [
            evaluate_shape(shape, solution, owner=self.owner)
            for shape in (self.spec.outputs if self.spec else ())
        ]
        if self.out is None:
            self._check_count(outputs, len(shapes))
            return [
                jax.ShapeDtypeStruct(shape, self._dtype(parameter, dtypes))
                for parameter, shape in zip(outputs, shapes, strict=True)
            ]
        types: list[Any] = jax.tree.leaves(self._ask("out", self.out, call))
        self._check_count(outputs, len(types))
        for parameter, type_ in zip(outputs, types, strict=True):
            if not hasattr(type_, "shape") or not hasattr(type_, "dtype"):
                raise ValidationError(
                    f"{self.owner}: out gives {type_!r} for result '{parameter.name}'; "
                    "it needs a shape and a dtype, as jax.ShapeDtypeStruct has."
                )
            pointee = parameter.pointee or ""
            usual = element_type(pointee)  # None: the user's affair
            if usual is not None and not accepts(pointee, type_.dtype):
                raise SignatureError(
                    f"{self.owner}: out makes result '{parameter.name}' "
                    f"{type_.dtype.name}, but parameter `{parameter}` needs "
                    f"{usual.dtype.name}. Declare it so."
                )
        if self.spec is not None and shapes != [t.shape for t in types]:
            raise ValidationError(
                f"{self.owner}: out gives {[t.shape for t in types]}, but "
                f'shapes="{self.spec.text}" makes the results {shapes}. Leave one out.'
            )
        return types

    def fills(self, outputs: Sequence[Parameter]) -> list[Any]:
        """What each allocated result holds before the launch; None: undefined."""
        names = [p.name for p in outputs]
        if not isinstance(self.fill, Mapping):
            return [self.fill] * len(names)
        for name in self.fill:
            if name not in names:
                raise ValidationError(
                    f"{self.owner}: fill names {name!r}; the allocated results are "
                    f"{', '.join(names) or 'none'}."
                )
        return [self.fill.get(name) for name in names]

    def _check_count(self, outputs: Sequence[Parameter], declared: int) -> None:
        if declared != len(outputs):
            names = ", ".join(p.name for p in outputs)
            fewer = self.out is None and declared < len(outputs)
            advice = " A result without axes is () in shapes=." if fewer else ""
            raise SignatureError(
                f"{self.owner}: {counted(declared, 'result')} declared; the kernel "
                f"writes {len(outputs)} ({names or 'none'}) that are not in in_out=. "
                f"Pointers of in_out= are operands, and stand left of -> only.{advice}"
            )

    def _ask(self, what: str, choice: Any, call: CallArguments) -> Any:
        """Calls a function of the user's; anything else is the answer itself."""
        if not callable(choice):
            return choice
        names, values = [*call.passed], [*call.passed.values()]
        return ask(self.owner, what, choice, names, values, call.keywords)

    def _dtype(
        self, parameter: Parameter, dtypes: Mapping[str, frozenset[np.dtype]]
    ) -> np.dtype:
        """A pointee that can be read in several ways is read as in the operands."""
        pointee = parameter.pointee or ""
        element = element_type(pointee)
        if element is None:
            raise SignatureError(
                f"{self.owner}: result '{parameter.name}' is `{parameter.type}`, which "
                "has no array dtype. Declare the results with out=."
            )
        held = dtypes.get(pointee, frozenset()) or {element.dtype}
        if len(held) > 1:
            names = " and ".join(sorted(d.name for d in held))
            raise SignatureError(
                f"{self.owner}: result '{parameter.name}' is `{parameter.type}`, and "
                f"operands of that type are {names}. Declare the results with out=."
            )
        return next(iter(held))

    def config(self, solution: Solution, call: CallArguments) -> LaunchConfig:
        """The launch geometry of one call."""
        if self.launch is not None:
            config = self._ask("launch", self.launch, call)
            if not isinstance(config, LaunchConfig):
                raise ValidationError(
                    f"{self.owner}: launch returned {config!r}; it must return a "
                    "LaunchConfig."
                )
            return config
        extents = evaluate_shape(
            self.threads or (), solution, owner=f"{self.owner}: threads"
        )
        threads = (*extents, *(1,) * (3 - len(extents)))
        shared = self._ask("shared_mem_bytes", self.shared, call)
        if isinstance(shared, Expression):
            owner = f"{self.owner}: shared_mem_bytes"
            shared = evaluate(shared, solution.sizes, owner=owner)
        grid = ceil_div_grid((threads[0], threads[1], threads[2]), self.block)
        return launch_config(self.owner, grid, self.block, shared)
