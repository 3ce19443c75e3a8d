"""LiveProgram: one command as a plan of its own, run at once."""

from __future__ import annotations

import re
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NoReturn, cast

import numpy as np

from .._base.checked_mode import CHECK_FAILED
from .._base.errors import BackendError, CheckError, UnsupportedError, ValidationError
from .._base.extension import ffi as _ffi
from .._device.driver import call_driver, device_context
from .._module.module import Module
from .._plan.commands import BufferRef, Command, Launch, Space, relocate
from .._plan.encode import encode
from .._plan.labels import BufferState, Labels
from .._plan.plan import Plan
from .._plan.schedule import schedule
from .._session.refs import BufferKind
from .._types.arrays import ArrayType
from .._xla.registration import register
from .buffers import LiveBuffer
from .device import LiveDevice

_MAX_PROGRAMS = 128
_BYTE = np.dtype(np.uint8)

Find = Callable[[BufferRef], LiveBuffer]


def run_command(
    op_name: str, command: Command, device: LiveDevice, find: Find, checked: bool
) -> None:
    """Runs a command on a device.

    Args:
      op_name: For messages.
      command: In terms of a session's buffers.
      device: Entered by the session.
      find: Returns the buffer of a reference.
      checked: Whether to check what a kernel does.

    Raises:
      BackendError: The driver refused, or a kernel failed on the CPU.
      ValidationError: The launch exceeds a limit of the device or the kernel.
      UnsupportedError: The platform cannot run the kernel.
      CheckError: The kernel is wrong.
    """
    # The plan knows buffers by their order in the command: calls on other arrays share
    # it.
    places: dict[tuple[Space, int], int] = {}
    buffers: list[LiveBuffer] = []

    def number(ref: BufferRef) -> BufferRef:
        key = ref.space, ref.index
        if key not in places:
            places[key] = len(places)
            buffers.append(find(ref))
        return BufferRef(Space.RESULT, places[key], ref.offset)

    moved = relocate(command, number)
    if checked and isinstance(command, Launch):
        types = [_type(buffer) for buffer in buffers]
        labels = _labels(buffers)
    else:
        types = [ArrayType((_type(buffer).nbytes,), _BYTE) for buffer in buffers]
        labels = None
    plan = Plan(op_name, (), tuple(types), (moved,), labels=labels)
    program = _programs.get(plan, device.platform)
    ordinal = 0 if device.ordinal is None else device.ordinal
    program.ordinals.add(ordinal)
    addresses = [buffer.address for buffer in buffers]
    what, text = program.code.run(device.stream, ordinal, addresses)
    if what and labels and CHECK_FAILED in text:
        raise CheckError(text)
    if what:
        _raise(what, text)


def _type(buffer: LiveBuffer) -> ArrayType:
    return ArrayType(buffer.shape, buffer.dtype)


def _labels(buffers: Sequence[LiveBuffer]) -> Labels:
    states = []
    for buffer in buffers:
        state = BufferState.INITIALIZED if buffer.written else BufferState(0)
        operand = buffer.kind is BufferKind.OPERAND
        states.append(state | BufferState.READ_ONLY if operand else state)
    return Labels((), tuple(buffer.name for buffer in buffers), tuple(states))


@dataclass(frozen=True, slots=True)
class _Program:
    code: _ffi.Program
    op_name: str
    platform: str
    modules: frozenset[Module]
    ordinals: set[int] = field(default_factory=set)

    def wait(self) -> None:
        """Waits for every device that may still run it."""
        if self.platform == "cuda":
            for ordinal in self.ordinals:
                with device_context(self.op_name, ordinal):
                    call_driver(self.op_name, "cuCtxSynchronize")


class _Programs:
    """The programs that ran last; the images in them stay loaded."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: OrderedDict[tuple[Plan, str], _Program] = OrderedDict()
        self._users: Counter[Module] = Counter()  # entries that have it

    def get(self, plan: Plan, platform: str) -> _Program:
        key = plan, platform
        with self._lock:
            if (program := self._entries.get(key)) is not None:
                self._entries.move_to_end(key)
                return program
        made = _load(plan, platform)  # without the lock: it may compile
        with self._lock:
            program = self._entries.setdefault(key, made)
            if program is made:
                self._users.update(made.modules)
            unloaded = self._shrink()
        for old in unloaded:
            old.wait()
        return program

    def _shrink(self) -> list[_Program]:
        """Drops the oldest; returns those whose images go with them."""
        unloaded = []
        while len(self._entries) > _MAX_PROGRAMS:
            _, program = self._entries.popitem(last=False)
            self._users.subtract(program.modules)
            gone = [module for module in program.modules if not self._users[module]]
            for module in gone:
                del self._users[module]
            if gone:
                unloaded.append(program)
        return unloaded


_programs = _Programs()


def _load(plan: Plan, platform: str) -> _Program:
    register()
    attributes = encode(plan, schedule(plan, platform))
    text, images = (cast(bytes, attributes[name]) for name in ("plan", "images"))
    code = _ffi.load_program(platform, text, images)
    if isinstance(code, tuple):
        _raise(*code)
    modules = frozenset(function.module for function in plan.functions)
    return _Program(code, plan.op_name, platform, modules)


def _raise(what: str, text: str) -> NoReturn:
    text = re.sub(r"^\w+Error: ", "", text)  # of the hook's own exception
    if what == "invalid":
        raise ValidationError(text)
    if what == "unsupported":
        raise UnsupportedError(text)
    code = re.search(r"CUDA_ERROR_\w+", text)
    raise BackendError(text, code[0] if code else None)
