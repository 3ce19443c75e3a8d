"""Everything that depends on the JAX version, and every JAX name that may move."""

from __future__ import annotations

import contextlib
import copy
import functools
import math
import os
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import jax
from jax._src.core import trace_state_clean

ShapedArray = jax.core.ShapedArray

Function = TypeVar("Function", bound=Callable[..., Any])


def _exclude_own_frames() -> None:
    """Lets JAX take the line of the user's code for the place of a call."""
    folder = str(Path(__file__).parents[1]) + os.sep
    try:
        from jax._src import source_info_util, traceback_util

        for module in (source_info_util, traceback_util):
            module.register_exclusion(folder)
    except (ImportError, AttributeError):  # then places and tracebacks are longer
        pass


_exclude_own_frames()


def hide_frames(function: Function) -> Function:
    """Cuts this package's and JAX's frames out of tracebacks that leave a function.

    As JAX does for its own functions, so that `JAX_TRACEBACK_FILTERING` rules both.
    """
    try:
        from jax._src.traceback_util import api_boundary
    except ImportError:
        return function
    hidden: Function = api_boundary(function)
    return hidden


def make_primitive(name: str) -> Any:
    """Returns a new primitive with several results.

    Its `named(other)` is the same one with another name, for jaxprs, HLO, profiles and
    errors: the two are equal, so that rules for the first serve the second. Ask with
    `==` what an equation has.
    """
    # Not at the top: jax.extend brings Pallas along, which costs a third of the time
    # that importing this package may take.
    from jax.extend.core import Primitive

    class Named(Primitive):  # type: ignore[misc]
        multiple_results = True

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Named)

        def __hash__(self) -> int:
            return hash(Named)

        @functools.lru_cache(maxsize=1024)  # noqa: B019 (the primitive lives for ever)
        def named(self, other: str) -> Named:
            renamed = copy.copy(self)
            renamed.name = other
            return renamed

    return Named(name)


def keep_in_order(effect: type) -> None:
    """Lets programs have a kind of effect, which JAX then keeps in order.

    On several devices each keeps its own order.
    """
    from jax._src import effects

    for allowed in (
        effects.lowerable_effects,
        effects.ordered_effects,
        effects.shardable_ordered_effects,
        effects.control_flow_allowed_effects,
        effects.custom_derivatives_allowed_effects,
        effects.remat_allowed_effects,
        effects.partial_eval_kept_effects,
    ):
        allowed.add_type(effect)


def abstract_token() -> Any:
    """The abstract value of XLA's tokens."""
    from jax._src.core import abstract_token  # jax.ffi has it from 0.11 on

    return abstract_token


def devices_in_view(ctx: Any) -> int:
    """How many devices a part of a program is spread over, as it is written.

    Args:
      ctx: Of a lowering rule.

    Returns:
      1 on one device, and in a `shard_map` over all axes of the mesh.
    """
    context = ctx.module_context.axis_context
    if (mesh := getattr(context, "mesh", None)) is None:
        return int(getattr(context, "num_devices", None) or 1)
    others = set(mesh.shape) - context.manual_axes
    return math.prod(mesh.shape[axis] for axis in others)


def eager_modes() -> bool:
    """Whether JAX runs without jit, or looks at each primitive's result."""
    config = jax.config
    return bool(
        config.jax_disable_jit or config.jax_debug_nans or config.jax_debug_infs
    )


@contextlib.contextmanager
def plain_jit() -> Iterator[None]:
    """Lets jit compile, and leaves results alone, whatever the user has set."""
    with (
        jax.disable_jit(False),
        jax.debug_nans(False),
        jax.debug_infs(False),
    ):
        yield


def let_checkify_see(primitive: Any, name_of: Callable[..., str]) -> None:
    """Makes the float checks of checkify look at a primitive's results.

    Args:
      primitive: Any.
      name_of: Of its parameters; what the report calls it.
    """
    from jax._src import checkify

    def check(*args: Any, **params: Any) -> Any:
        named = types.SimpleNamespace(
            bind=primitive.bind,
            name=name_of(**params),
            multiple_results=primitive.multiple_results,
        )
        return checkify.nan_error_check(named, *args, **params)

    checkify.error_checks[primitive] = check


def varying_axes(types: Iterable[Any]) -> frozenset[Any]:
    """Manual mesh axes over which arrays of any of these types (avals) vary."""
    axes = (t.manual_axis_type.varying for t in types)
    return frozenset().union(*axes)


def result_aval(shape: tuple[int, ...], dtype: Any, operands: Sequence[Any]) -> Any:
    """Abstract result of an op on `operands`, inside or outside of `shard_map`.

    Without the manual axis type, `shard_map(check_vma=True)` would take every result
    for replicated and accept wrong `out_specs`.
    """
    extra: dict[str, Any] = {}
    mesh = jax.sharding.get_abstract_mesh()
    if not mesh.empty:
        spec = jax.sharding.PartitionSpec(*[None] * len(shape))
        extra["sharding"] = jax.sharding.NamedSharding(mesh, spec)
    varying = varying_axes(operands)
    if varying:
        extra["manual_axis_type"] = jax.sharding.ManualAxisType(varying=varying)
    return ShapedArray(shape, dtype, **extra)


def vary_alike(operands: Sequence[Any]) -> list[Any]:
    """Casts operands so that all vary over the same manual mesh axes.

    The transpose of the cast is the psum that gradients of replicated operands need.
    """
    return vary_over(varying_axes(map(jax.typeof, operands)), operands)


def vary_over(axes: frozenset[Any], arrays: Sequence[Any]) -> list[Any]:
    """Casts arrays so that each varies over the manual mesh axes `axes`, at least.

    Of the result of a call that JAX knows nothing of, `shard_map(check_vma=True)` would
    think that it is replicated.
    """
    if not axes:
        return list(arrays)
    missing = [tuple(axes - jax.typeof(x).manual_axis_type.varying) for x in arrays]
    return [
        jax.lax.pcast(x, lacking, to="varying") if lacking else x
        for x, lacking in zip(arrays, missing, strict=True)
    ]


def runtime_errors() -> tuple[type[Exception], ...]:
    """The exceptions that carry XLA's word of an error while a program runs.

    On a repeated call jax 0.11.2 raises a ValueError with the same text.
    """
    return (jax.errors.JaxRuntimeError, ValueError)


def traced_apart(name: str) -> contextlib.AbstractContextManager[None]:
    """What is traced inside shares no trace or executable with what is traced outside.

    XLA's metadata is part of JAX's cache keys, and of nothing that runs.
    """
    from jax.experimental.xla_metadata import set_xla_metadata

    manager: contextlib.AbstractContextManager[None] = set_xla_metadata(**{name: "on"})
    return manager


def is_tracer(value: object) -> bool:
    """Whether a value is known only to the trace in progress."""
    return isinstance(value, jax.core.Tracer)


def is_eager() -> bool:
    """Whether nothing is being traced in this thread."""
    return bool(trace_state_clean())


def transfers_freely() -> bool:
    """Whether NumPy arrays may go to a device without being asked for."""
    guard = jax.config.jax_transfer_guard_host_to_device
    return guard not in ("disallow", "disallow_explicit")


def zero_tangents(primals: Sequence[Any]) -> list[Any]:
    """Returns JAX's sign for "no derivative", one per array: of integers the only one.

    Only rules of primitives may return it.
    """
    from jax.interpreters import ad

    return [ad.Zero(jax.typeof(x).to_tangent_aval()) for x in primals]


def says_no_forward_mode(error: TypeError) -> bool:
    """Whether JAX refuses forward mode of a custom_vjp; it says not of which."""
    return "forward-mode autodiff (jvp) to a custom_vjp" in str(error)


def buffer_callback(
    callback: Callable[..., None], results: Sequence[Any], **options: Any
) -> Callable[..., Any]:
    """Makes a call that runs Python with the program, on its buffers."""
    from jax.experimental import buffer_callback as module

    call: Callable[..., Any] = module.buffer_callback(callback, results, **options)
    return call
