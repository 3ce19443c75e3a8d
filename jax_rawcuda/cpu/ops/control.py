"""Calls and traps. Branches and returns belong to the control-flow graph."""

from __future__ import annotations

from ..emit import guards
from ..emit.calls import call_device
from ..emit.emitter import Emitter
from ..emit.values import Pointer
from ..ptx.calls import Call, parse_call
from ..ptx.instruction import Instruction
from ..ptx.operands import Symbol
from .common import Handler
from .floating import libm, library
from .floating.exponential import INLINE


def _argument(em: Emitter, call: Call, index: int, kind: str) -> tuple[str, str]:
    pointer = Pointer(em.private_pointer(call.parameters[index]), private=True)
    return kind, em.load(kind, pointer, 1)


def _return(em: Emitter, call: Call, kind: str, value: str) -> None:
    if call.results:
        pointer = Pointer(em.private_pointer(call.results[0]), private=True)
        em.store(kind, value, pointer, 1)


def _vprintf(em: Emitter, call: Call) -> None:
    arguments = [_argument(em, call, index, "i64") for index in range(2)]
    count = em.intrinsic("jrc_vprintf", "i32", ("ptr", "%ctx"), *arguments)
    _return(em, call, "i32", count)


def _assertfail(em: Emitter, call: Call) -> None:
    message, file, function = (_argument(em, call, i, "i64") for i in (0, 1, 3))
    line = _argument(em, call, 2, "i32")
    where = ("ptr", "%ctx"), ("i32", em.thread)
    em.intrinsic("jrc_assertfail", "void", *where, message, file, line, function)
    em.end_thread()


def _malloc(em: Emitter, call: Call) -> None:
    helper = "jrc_check_malloc" if em.state.checked else "jrc_malloc"
    size = _argument(em, call, 0, "i64")
    _return(em, call, "i64", em.intrinsic(helper, "i64", ("ptr", "%ctx"), size))


def _free(em: Emitter, call: Call) -> None:
    where = ("ptr", "%ctx"), ("i32", em.thread)
    em.intrinsic("jrc_free", "void", *where, _argument(em, call, 0, "i64"))
    em.end_if_faulted()


_EXTERNAL = {
    "vprintf": _vprintf,
    "__assertfail": _assertfail,
    "malloc": _malloc,
    "free": _free,
}


def _call(em: Emitter, inst: Instruction) -> None:
    call = parse_call(inst)
    target = call.target
    if not isinstance(target, Symbol) or not em.state.variables.is_external(
        target.name
    ):
        call_device(em, call, inst.location)
        return
    if target.name == "free" and em.state.checked:
        guards.free(em, inst, _argument(em, call, 0, "i64")[1])
    elif (handler := _EXTERNAL.get(target.name)) is not None:
        handler(em, call)
    elif (signature := libm.SIGNATURES.get(target.name)) is not None:
        result, *kinds = signature
        arguments = [_argument(em, call, i, kind) for i, kind in enumerate(kinds)]
        if (name := INLINE.get(target.name)) is not None:
            value = library.invoke(em, name, *(value for _, value in arguments))
        else:
            value = em.intrinsic(target.name, result, *arguments)
        if result == "float":
            value = library.invoke(em, "jrc.canonical.f32", value)
        _return(em, call, result, value)
    else:
        raise em.unsupported(inst, f"no host function stands for {target.name}")


def _trap(em: Emitter, inst: Instruction) -> None:
    site = ("i32", str(em.site(inst)))
    em.intrinsic("jrc_trap", "void", ("ptr", "%ctx"), ("i32", em.thread), site)
    em.end_thread()


OPCODES: dict[str, Handler] = {"call": _call, "trap": _trap}
