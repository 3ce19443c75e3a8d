"""Writes the questions whether a kernel should stop, and of its stack."""

from __future__ import annotations

from ..analysis.stack import frame_bytes
from ..ptx.instruction import Instruction, Location
from ..ptx.module import Function
from .emitter import Emitter


def write_poll(em: Emitter, location: Location | None) -> None:
    """Ends the thread if the launch must stop."""
    flag = em.op(f"load volatile i32, ptr {em.context('stop')}, align 4")
    em.end_unless(em.op(f"icmp eq i32 {flag}, 0"), "jrc_stopped", location)


def write_stack_check(em: Emitter, function: Function) -> None:
    """Ends the thread if the stack is used up; precedes a function's body."""
    statements = function.body.statements
    located = (s.location for s in statements if isinstance(s, Instruction))
    location = next(filter(None, located), None)
    frame = em.intrinsic("llvm.frameaddress.p0", "ptr", ("i32", "0"))
    address = em.op(f"ptrtoint ptr {frame} to i64")
    address = em.op(f"sub i64 {address}, {frame_bytes(function)}")
    enough = em.op(f"icmp ugt i64 {address}, {em.context('stack_limit')}")
    em.end_unless(enough, "jrc_stack_overflow", location)
    write_poll(em, location)
