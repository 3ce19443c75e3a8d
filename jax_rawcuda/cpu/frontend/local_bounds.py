"""Indices that leave a local array, kept where LLVM would drop the access.

With loops unrolled an array lives in registers, and what lies beyond it nowhere: the
access is gone before there is PTX. A test that clang writes before it stays.
"""

from __future__ import annotations

import re

from .alignment import NATURAL, place_of

# With these clang compares the index of each array of known length.
TESTED_INDICES = ("-Xclang", "-fsanitize=array-bounds")

_HANDLER = "@__ubsan_handle_out_of_bounds_abort("
_INDEX = re.compile(r"i64 (\S+?)\)")
_BRANCH = re.compile(r"\s+br i1 [^,]+, label (%\S+?), label (%\S+?),")
_LABEL = re.compile(r"(\S+?):")
_ALLOCATION = re.compile(r"\s+(%\S+) = alloca \[")
_ELEMENT = re.compile(
    r"\s+(%\S+) = getelementptr (?:(?:inbounds|nusw|nuw) )*"
    r"(\[\d+ x (.+)\]), ptr (%\S+), i64 0, i64 "
)
_NEAR = 8  # lines from a test to the element


def with_tested_locals(ir: str) -> str:
    """Returns LLVM IR in which an index beyond a local array makes an access there.

    The tests of other arrays are undone: `tile[0][40]` may mean another row.
    """
    lines = ir.split("\n")
    own: set[str] = set()
    targets: dict[str, str] = {}
    label = ""
    for number, line in enumerate(lines):
        if line.startswith("define "):
            own.clear()
            targets.clear()
        elif allocation := _ALLOCATION.match(line):
            own.add(allocation[1])
        elif branch := _BRANCH.match(line):
            targets[branch[2]] = branch[1]
        elif name := _LABEL.match(line):
            label = f"%{name[1]}"
        elif _HANDLER in line and line.startswith("  "):
            lines[number] = _access(lines, number, own)
            lines[number + 1] = f"  br label {targets[label]}"
    return "\n".join(lines)


def _access(lines: list[str], test: int, own: set[str]) -> str:
    """Writes the access that a failed test stands for; "" if it is allowed."""
    for number in range(test + 2, min(test + 2 + _NEAR, len(lines))):
        element = _ELEMENT.match(lines[number])
        if element is None:
            continue
        pointer, array, type_, base = element.groups()
        index = _INDEX.search(lines[test])
        if base not in own or index is None:
            return ""
        kind = type_ if type_ in NATURAL else "i8"
        suffix = place_of(lines[test])
        far, hidden = f"%beyond.{test}", f"%hidden.{test}"
        stores = any(
            line.startswith("  store ") and f", ptr {pointer}," in line
            for line in lines[number + 1 : number + _NEAR]
        )
        access = (
            f"store volatile {kind} zeroinitializer, ptr {far}"
            if stores
            else f"%read.{test} = load volatile {kind}, ptr {far}"
        )
        # LLVM takes no notice of what leaves a variable that it sees.
        return (
            f'  {hidden} = call ptr asm "mov.b64 $0, $1;", "=l,l"(ptr {base}){suffix}\n'
            f"  {far} = getelementptr {array}, ptr {hidden}, i64 0, i64 {index[1]}\n"
            f"  {access}, align {NATURAL.get(kind, 1)}{suffix}"
        )
    return ""
