"""rc.kernel: one CUDA kernel as a function of arrays."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Hashable, Mapping, Sequence
from inspect import Signature
from typing import Any

import jax
import numpy as np

from .._base.by_name import ByName, calling_module
from .._base.compat import hide_frames, is_eager, is_tracer
from .._base.errors import (
    RawCudaError,
    SignatureError,
    UnsupportedError,
    ValidationError,
)
from .._module.load import compile_nvrtc
from .._module.module import Function, Module
from .._plan.report import PlanReport
from .._session.binding import operand_shape
from .._session.calls import Call
from .._session.derivatives import Differentiable
from .._session.op import record, run, trace
from .._session.recording import Recording
from .._session.refs import DeviceBytes, Ref
from .._session.session import Session
from .._session.vmap_rule import VmapRule, call_with_rule, check_rule
from .._source.options import NvrtcOptions
from .._types.dtypes import spell_array
from .._types.dynamic import promoted
from .._types.launch import LaunchConfig
from .._types.scalars import pack_scalar
from .._types.shapes import Solution
from .._types.signature import Parameter
from .._xla.inspect import inspect
from .abstract import abstract
from .arguments import (
    Roles,
    arrange_call,
    call_signature,
    roles_of,
    sort_arguments,
    unknown_signature,
)
from .call_key import call_key
from .changing import ChangingScalars, fill_slots
from .contract import CallArguments, Contract
from .extents import Axes, given_extent
from .template import Template, instance, is_function
from .template_roles import (
    check_declared,
    declared_roles,
    declared_shape,
    is_certain,
)

_MAX_RECORDINGS = 256  # kinds of calls that one kernel remembers


@hide_frames
def kernel(
    source: str | os.PathLike[str] | Module | Function,
    name: str | None = None,
    *,
    shapes: str | None = None,
    out: Any = None,
    threads: Axes | None = None,
    block: int | Sequence[int] | None = None,
    launch: Callable[..., LaunchConfig] | LaunchConfig | None = None,
    shared_mem_bytes: int | str | Callable[..., int] = 0,
    template: Template | None = None,
    in_out: str | Sequence[str] = (),
    fill: Any = None,
    options: NvrtcOptions | None = None,
    has_side_effect: bool = False,
) -> Kernel:
    """Makes a CUDA kernel callable like any `jnp` function.

    The compiler says what each parameter is: `const T*` is an operand, `T*` a result
    that is allocated for the call (or both, if named in `in_out`), a value a scalar: a
    number, or an array that is read when the kernel starts. Operands and scalars are
    passed in the order of the parameters.

    Args:
      source: CUDA C++ text, the path of a file, or a Module or Function.
      name: The kernel; may be left out when there is only one.
      shapes: Contract on shapes, `"operand, operand -> result"`: dimension names,
        integers and integer arithmetic, `()` for no axes. Operands and results stand in
        the order of the parameters. Equal names must match. `*rows`, once in a shape,
        is any number of axes that the kernel sees as one dimension, their product:
        `"*n, *n -> *n"` takes every rank. Integer scalar parameters that are
        named like a dimension are filled in and may be left out of a call. A dimension
        that only results have comes by keyword, whether or not it is a parameter.
      out: Results instead of `shapes`, or beside it to give them other dtypes: one or
        several of anything with shape and dtype, or a callable of the call's arguments
        that returns them.
      threads: Threads of the whole launch, one to three extents, in elements; the
        grid is that many over `block`, rounded up. `"w h"` reads dimensions.
      block: Threads per block, one to three ints; 256 by default.
      launch: A LaunchConfig, or a callable of the call's arguments that returns one,
        instead of `threads`, `block` and `shared_mem_bytes`, which are refused beside.
      shared_mem_bytes: Dynamic shared memory per block, in bytes: an int, an
        expression over dimensions, or a callable of the call's arguments.
      template: Template arguments (dtypes, ints, bools, text), or a callable of the
        call's arguments that returns them. Text that is a dimension, or arithmetic of
        dimensions, is its value, even if C++ knows the name; other text is C++.
      in_out: Names of pointer parameters that are both operand and result.
      fill: A number that every allocated result holds before the launch, or a mapping
        from results' names to numbers; undefined without it.
      options: Compiler options, when `source` is text.
      has_side_effect: Whether it does something that no result shows, such as `printf`:
        then it runs even if nobody needs its results, it may have none, equal calls are
        several, and all such calls of a program run in the order it is written in.

    Callables receive the call's arguments in the order of the parameters: arrays as
    `jax.ShapeDtypeStruct`, numbers as they are, without those that are filled in; and
    by keyword the dimensions that are no parameters.

    Raises:
      CompileError: The source does not compile.
      ValidationError: The contract is incomplete or malformed.

    >>> saxpy = kernel(text, shapes="n, n -> n", threads="n")  # doctest: +SKIP
    """
    if name is not None and not isinstance(name, str):
        raise ValidationError(
            f"kernel: name={name!r}; it needs the kernel's name, as text."
        )
    if isinstance(source, Function):
        module, name = source.module, name or source.name
    elif isinstance(source, Module):
        module = source
    else:
        module = compile_nvrtc(source, options, name=name)
    name = name or module.only_kernel_name()
    if has_side_effect and shapes is None and out is None:
        out = ()  # it may have no results
    contract = Contract(
        name,
        shapes=shapes,
        out=out,
        threads=threads,
        block=block,
        launch=launch,
        shared_mem_bytes=shared_mem_bytes,
        fill=fill,
    )
    written = _names(name, in_out)
    return Kernel(module, name, contract, template, written, has_side_effect)


def _names(owner: str, in_out: Any) -> tuple[str, ...]:
    names = (in_out,) if isinstance(in_out, str) else in_out
    if not isinstance(names, tuple | list | set | frozenset):
        raise ValidationError(
            f"{owner}: in_out={in_out!r}; it needs a parameter's name, or several."
        )
    return tuple(dict.fromkeys(names))


class Kernel(Differentiable, ByName):
    """A kernel with its contract. Made by `rc.kernel`.

    Attributes:
      module: The source.
      name: The kernel's name, without template arguments.
    """

    def __init__(
        self,
        module: Module,
        name: str,
        contract: Contract,
        template: Template | None,
        in_out: tuple[str, ...],
        has_side_effect: bool,
    ) -> None:
        self.module = module
        self._contract = contract
        self._template = template
        self._in_out = in_out
        self._has_side_effect = has_side_effect
        # A template has no signature before its arguments are known.
        self._function = None if template is not None else module.function(name)
        self.name = self.__name__ = self.__qualname__ = name
        self.__module__ = calling_module()
        self.__doc__ = f"The CUDA kernel {name} as a function of arrays."
        # Whether no function of the user's decides what is recorded.
        self._is_declarative = not is_function(template) and contract.is_declarative
        self._changing = ChangingScalars(name)
        self._declared: Roles | None = None  # by the text, where template= asks for it
        self._roles: dict[Function, Roles] = {}
        self._recordings: dict[Hashable, Recording] = {}
        self._rule: VmapRule | None = None

    def __repr__(self) -> str:
        if self._function is None:
            return f"<kernel {self.name}<...>>"
        return f"<kernel {self._function.signature}>"

    @property
    def __signature__(self) -> Signature:
        """What a call takes, for `help` and for `jax.jit(donate_argnames=...)`."""
        try:
            if self._function is not None:
                return call_signature(self._roles_of(self._function))
            roles = self._declared_roles()
        except RawCudaError:  # the call has the better place to raise it
            return unknown_signature(self._contract.free)
        if is_certain(roles):
            return call_signature(roles)
        return unknown_signature(self._contract.free)

    @hide_frames
    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """Records one launch and returns its results.

        Operands and scalars, without the results, by position or by name.
        """
        return self._apply(args, keywords)

    def _primal(self, args: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        leaves = (*args, *keywords.values())
        # What runs at once is under no vmap.
        if self._rule is None or is_eager() or any(isinstance(x, Ref) for x in leaves):
            return self._call(args, keywords)
        return call_with_rule(
            self.name, lambda *a, **k: self._call(a, k), self._rule, args, keywords
        )

    def inspect(self, *args: Any, **keywords: Any) -> PlanReport:
        """Says which way the launch would take, without running it.

        Under a transformation such as `vmap`, ask `rc.inspect(jax.vmap(kernel), ...)`.

        Args:
          *args: As for a call; arrays may be `jax.ShapeDtypeStruct`s.
          **keywords: As for a call.
        """
        return inspect(self, *args, **keywords)[0]

    def def_vmap(self, rule: VmapRule) -> VmapRule:
        """Makes `vmap` call a rule, as `Op.def_vmap` does.

        Args:
          rule: `(axis_size, in_batched, *args, **keywords) -> (results, out_batched)`.

        Returns:
          The rule, so that this is a decorator.

        Raises:
          SignatureError: It is no function.
        """
        self._rule = check_rule(self.name, rule)
        return rule

    def _call(self, args: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        moved = self._changing.move(args, keywords) if self._is_declarative else None
        if moved is not None:
            try:
                return self._run(args, keywords, *moved)
            except UnsupportedError:  # numbers in the program still work
                self._changing.give_up()
        return self._run(args, keywords, args, keywords)

    def _run(
        self,
        args: Sequence[Any],
        keywords: Mapping[str, Any],
        positional: Sequence[Any],
        by_name: Mapping[str, Any],
        *held: np.ndarray,
    ) -> Any:
        """Calls it.

        Args:
          args: Of the user's call.
          keywords: Of the user's call.
          positional: The same as `args`, or with Slots for scalars that are in `held`.
          by_name: Likewise, of `keywords`.
          *held: Nothing, or uint8[bytes].
        """
        key = call_key(positional, by_name) if self._is_declarative else None
        given = (*args, *keywords.values())
        arrays = [*(x for x in given if isinstance(x, jax.Array)), *held]
        if key is not None and (known := self._recordings.get(key)):
            return run(known, arrays)
        function = self._instance(args, keywords)
        roles = self._roles_of(function)
        named = sort_arguments(roles, positional, by_name)
        if self._is_declarative and self._changing.count(roles, named):
            return self(*args, **keywords)
        operands = [p.name for p in roles.arrays(named)]
        for p in roles.parameters:
            if p.name in operands and not p.is_pointer:
                named[p.name] = promoted(p, named[p.name])

        def body(session: Session, *refs: Any) -> Any:
            call = {**named, **dict(zip(operands, refs, strict=False))}
            if held:
                call |= fill_slots(roles, named, refs[-1])
            return self._record(session, function, roles, call)

        passed = [*(named[name] for name in operands), *held]
        names = [*operands, *("scalars" for _ in held)]
        if key is None:
            return record(self.name, body, passed, names=names)
        recording, added = trace(self.name, body, passed, names=names)
        # Whether the next call has all that it runs on, in this order.
        if [*map(id, added)] == [*map(id, arrays)]:
            if len(self._recordings) >= _MAX_RECORDINGS:
                self._recordings.clear()
            self._recordings[key] = recording
        return run(recording, added)

    def _arrange(self, args: Sequence[Any], keywords: Mapping[str, Any]) -> Call:
        roles = self._roles_of(self._instance(args, keywords))
        return arrange_call(roles, sort_arguments(roles, args, keywords))

    def _roles_of(self, function: Function) -> Roles:
        if function not in self._roles:
            roles = roles_of(
                function.signature,
                self._in_out,
                self._contract.dimensions,
                self._contract.free,
            )
            if self._declared is not None:
                check_declared(self._declared, roles)
            self._roles[function] = roles
        return self._roles[function]

    def _declared_roles(self) -> Roles:
        """The roles that the text of a template tells."""
        return self._declared or declared_roles(
            self.name,
            self.module.source,
            self._in_out,
            self._contract.dimensions,
            self._contract.free,
        )

    def _instance(self, args: Sequence[Any], keywords: Mapping[str, Any]) -> Function:
        """The function itself, or the template's instance for these arguments."""
        if self._function is not None:
            return self._function

        @functools.cache
        def sizes() -> Mapping[str, int]:
            roles = self._declared = self._declared_roles()
            named = sort_arguments(roles, args, keywords)
            operands = [
                (p.name, declared_shape(self.name, p, named[p.name]))
                for p in roles.operands
            ]
            return self._solve(roles, operands, named).sizes

        dimensions = self._contract.dimensions
        return self.module.function(
            instance(self.name, self._template, args, keywords, dimensions, sizes)
        )

    def _solve(
        self,
        roles: Roles,
        operands: Sequence[tuple[str, tuple[int, ...]]],
        named: Mapping[str, Any],
    ) -> Solution:
        given = {
            p.name: _static_size(self.name, p, named[p.name])
            for p in roles.parameters
            if p.name in roles.dimensions and p.name in named
        }
        given |= self._keywords(roles, named)
        choices = roles.dimensions | roles.keywords
        return self._contract.solve(operands, given, choices)

    def _keywords(self, roles: Roles, named: Mapping[str, Any]) -> dict[str, int]:
        """Dimensions that are no parameters."""
        return {
            name: given_extent(self.name, name, named[name])
            for name in sorted(roles.keywords & named.keys())
        }

    def _record(
        self,
        session: Session,
        function: Function,
        roles: Roles,
        named: dict[str, Any],
    ) -> Any:
        session.has_side_effect |= self._has_side_effect
        contract = self._contract
        operands = [
            (p.name, operand_shape(self.name, p, named[p.name])) for p in roles.operands
        ]
        solution = self._solve(roles, operands, named)
        passed = {
            p.name: abstract(self.name, f"argument '{p.name}'", named[p.name])
            for p in roles.parameters
            if p.name in named
        }
        call = CallArguments(passed, self._keywords(roles, named))
        outputs = [p for p in roles.parameters if p.name in roles.outputs]
        types = contract.results(
            outputs, solution, call, _dtypes_of(roles.operands, named)
        )
        fills = contract.fills(outputs)
        for parameter, type_, fill in zip(outputs, types, fills, strict=True):
            named[parameter.name] = session.alloc_output(
                type_.shape, type_.dtype, fill, name=parameter.name
            )
        for name in roles.in_out:
            named[name] = session.tensor_mut(named[name])
        for name in roles.dimensions:
            named.setdefault(name, solution.sizes[name])
        config = contract.config(solution, call)
        arguments = [named[p.name] for p in roles.parameters]
        session.launch(function, config, *arguments)
        results = tuple(named[p.name] for p in roles.results)
        return results[0] if len(results) == 1 else results


def _dtypes_of(
    operands: Sequence[Parameter], named: Mapping[str, Any]
) -> dict[str, frozenset[np.dtype]]:
    """What the operands hold, per type that they point to; untyped bytes: nothing."""
    dtypes: dict[str, frozenset[np.dtype]] = {}
    for parameter in operands:
        ref, pointee = named[parameter.name], parameter.pointee or ""
        if not isinstance(ref, DeviceBytes):
            dtypes[pointee] = dtypes.get(pointee, frozenset()) | {ref.dtype}
    return dtypes


def _static_size(owner: str, parameter: Parameter, value: Any) -> int:
    """A dimension that the caller gave as a scalar."""
    if isinstance(value, jax.Array | Ref):
        given = "traced" if is_tracer(value) else f"an array ({spell_array(value)})"
        raise SignatureError(
            f"{owner}: scalar '{parameter.name}' is {given}, but it is a dimension of "
            "the shapes. Leave it out where operands give it, or pass a Python int "
            f'(static_argnames="{parameter.name}" in jax.jit).'
        )
    data = pack_scalar(owner, parameter, value)
    signed = "unsigned" not in parameter.type  # the compiler's spelling, no typedefs
    return int.from_bytes(data, sys.byteorder, signed=signed)
