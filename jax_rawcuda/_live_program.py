"""LiveProgram: one command as a plan of its own, run at once."""

from __future__ import annotations

import re
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NoReturn, cast

import numpy as np

from ._device import call_driver, device_context
from ._encoding import encode
from ._errors import BackendError, UnsupportedError, ValidationError
from ._extension import ffi as _ffi
from ._live_device import LiveDevice
from ._module import Module
from ._plan import ArrayType, BufferRef, Command, Plan, Space, relocate
from ._registration import register

_MAX_PROGRAMS = 128
_BYTE = np.dtype(np.uint8)

Locate = Callable[[BufferRef], tuple[int, int]]


def run_command(
    op_name: str, command: Command, device: LiveDevice, locate: Locate
) -> None:
    """Runs a command on a device.

    Args:
      op_name: For messages.
      command: In terms of a session's buffers.
      device: Entered by the session.
      locate: Returns the address and the size in bytes of a reference's buffer.

    Raises:
      BackendError: The driver refused, or a kernel failed on the CPU.
      ValidationError: The launch exceeds a limit of the device or the kernel.
      UnsupportedError: The platform cannot run the kernel.
    """
    # The plan knows buffers by their order in the command: calls on other arrays share
    # it.
    places: dict[tuple[Space, int], int] = {}
    addresses: list[int] = []
    types: list[ArrayType] = []

    def number(ref: BufferRef) -> BufferRef:
        key = ref.space, ref.index
        if key not in places:
            places[key] = len(places)
            address, nbytes = locate(ref)
            addresses.append(address)
            types.append(ArrayType((nbytes,), _BYTE))
        return BufferRef(Space.RESULT, places[key], ref.offset)

    moved = relocate(command, number)
    plan = Plan(op_name, (), tuple(types), (moved,))
    program = _programs.get(plan, device.platform)
    ordinal = 0 if device.ordinal is None else device.ordinal
    program.ordinals.add(ordinal)
    what, text = program.code.run(device.stream, ordinal, addresses)
    if what:
        _raise(what, text)


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
    attributes = encode(plan, platform)
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
