"""Writes calls of device functions."""

from __future__ import annotations

from ..ptx.calls import Call
from ..ptx.instruction import Location
from ..ptx.operands import Symbol
from .emitter import Emitter
from .variables import device_symbol


def call_device(em: Emitter, call: Call, location: Location | None) -> None:
    """Calls a device function of the same module; ends the thread if it faulted."""
    arguments = ["ptr %ctx", f"i32 {em.thread}"]
    arguments += [f"i32 {index}" for index in em.thread_index]
    arguments += [
        f"ptr {em.private_pointer(name)}" for name in (*call.results, *call.parameters)
    ]
    if isinstance(call.target, Symbol):
        callee = device_symbol(call.target.name)
        may_fault = call.target.name in em.state.may_fault
    else:
        address = em.get(call.target, "i64")
        _check_pointer(em, address, len(call.results) + len(call.parameters), location)
        callee = em.op(f"inttoptr i64 {address} to ptr")
        may_fault = True
    em.line(f"call void {callee}({', '.join(arguments)})")
    if may_fault:
        em.end_if_faulted()


def _check_pointer(
    em: Emitter, address: str, arity: int, location: Location | None
) -> None:
    """Ends the thread if no function of that many parameters has the i64 address."""
    name = f"jrc.callable.{arity}"
    tests, found = "", "false"
    for index, function in enumerate(em.state.pointed.get(arity, ())):
        tests += (
            f"  %e{index} = icmp eq i64 %p, ptrtoint (ptr {function} to i64)\n"
            f"  %f{index} = or i1 {found}, %e{index}\n"
        )
        found = f"%f{index}"
    text = f"define internal i1 @{name}(i64 %p) #0 {{\n{tests}  ret i1 {found}\n}}"
    em.define(name, text)
    fine = em.intrinsic(name, "i1", ("i64", address))
    em.end_unless(fine, "jrc_wild_call", location)
