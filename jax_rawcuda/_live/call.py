"""LiveCall: what XLA calls back when a program reaches a live op."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from .._base.errors import SignatureError, ValidationError
from .._session.refs import BufferKind, Output, Ref, TensorMut, TensorRef, buffer_of
from .._session.scope import close_session
from .buffers import address_of
from .device import CudaDevice, HostDevice, LiveDevice
from .outputs import with_outputs
from .session import LiveSession, open_live_session

# Name, text and value: `4`, `4.0` and `True` are equal, but different arguments.
StaticArgument = tuple[str, str, Any]


@dataclass(frozen=True, slots=True, weakref_slot=True)
class LiveCall:
    """A function with everything but the session and the memory.

    Equal ones share an executable.

    Attributes:
      op_name: For messages.
      function: The user's.
      operands: Their names.
      tree: Structure of the operands: a tuple by position, a dictionary by name.
      out_tree: Structure of the outputs.
      out_name: The parameter for the outputs, as `with_outputs` takes it.
      in_out: Numbers of the operands that are results too, the first ones.
      static: The static arguments.
      checked: Whether what its kernels do is to be checked, where that is possible.
    """

    op_name: str
    function: Callable[..., object]
    operands: tuple[str, ...]
    tree: Any
    out_tree: Any
    out_name: str | None
    in_out: tuple[int, ...]
    static: tuple[StaticArgument, ...]
    checked: bool

    def __call__(self, context: Any, out: Sequence[Any], *args: Any) -> None:
        with _device(self.op_name, context) as device:
            session = open_live_session(self.op_name, device, self.checked)
            try:
                self._run(session, args, out)
            finally:
                close_session(session)

    def _run(
        self, session: LiveSession, args: Sequence[Any], out: Sequence[Any]
    ) -> None:
        operands: list[Ref] = []
        for i, (name, source) in enumerate(zip(self.operands, args, strict=True)):
            if i in self.in_out:
                source = out[self.in_out.index(i)]  # XLA has moved the value there
                operands.append(_take(session, TensorMut, name, source))
            else:
                operands.append(_take(session, TensorRef, name, source))
        outputs = [
            _take(session, Output, self._output_name(i), source)
            for i, source in enumerate(out[len(self.in_out) :])
        ]
        args, named = self.tree.unflatten(operands)
        static = {key: value for key, _, value in self.static}
        written = self.out_tree.unflatten(outputs)
        args, keywords = with_outputs(args, named | static, self.out_name, written)
        returned = self.function(session, *args, **keywords)
        if returned is not None:
            raise SignatureError(
                f"{self.op_name}: returned {type(returned).__name__}; a live op "
                "returns nothing. Write to the outputs that it gets."
            )
        for ref in outputs:
            if ref.size and not buffer_of(ref).written:
                raise ValidationError(
                    f"{self.op_name}: result '{buffer_of(ref).name}' is never written: "
                    "nothing launched, copied or filled it, or asked for its memory."
                )

    def _output_name(self, index: int) -> str:
        paths = jax.tree_util.tree_flatten_with_path(
            self.out_tree.unflatten(range(self.out_tree.num_leaves))
        )[0]
        return f"out{jax.tree_util.keystr(paths[index][0])}"


def _device(op_name: str, context: Any) -> LiveDevice:
    try:
        stream = int(context.stream)
    except jax.errors.JaxRuntimeError:  # the CPU has none
        return HostDevice()
    return CudaDevice(op_name, stream)


def _take(
    session: LiveSession,
    kind: Callable[..., Ref],
    name: str,
    source: Any,
) -> Ref:
    shape, dtype = tuple(source.shape), np.dtype(source.dtype)
    buffer = session._list(
        BufferKind.OPERAND if kind is TensorRef else BufferKind.RESULT,
        name,
        shape,
        dtype,
        address_of(source),
        source,
        written=kind is not Output,
        array=source,
    )
    return kind(buffer, shape, dtype)
