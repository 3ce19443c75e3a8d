"""What a type's alignment promises, told to LLVM where clang leaves it out.

For `*(float4*)&s[t]` of an array of floats clang writes four accesses, because the
declaration promises no more. A GPU gets one, and fails where it is misaligned.
"""

from __future__ import annotations

import enum
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

# With these clang notes which type the source accesses.
TYPED_ACCESSES = ("-fstrict-aliasing", "-Xclang", "-new-struct-path-tbaa")

# In bytes, of the types of LLVM that have more than one.
NATURAL = {
    "i16": 2, "half": 2, "bfloat": 2, "i32": 4, "float": 4, "i64": 8, "double": 8,
    "ptr": 8,
}  # fmt: skip
_WIDE = 16  # bytes of the widest access
_TAG = re.compile(r"^(!\d+) = !\{(!\d+), (!\d+), i64 (\d+), i64 \d+\}", re.MULTILINE)
_OFFSET = re.compile(
    r"\s+(%\S+) = getelementptr (?:(?:inbounds|nusw|nuw) )*(.*?), ptr (.*)"
)
_MEMBER = re.compile(r"getelementptr [a-z ]*\(%")
_ALLOCATION = re.compile(r"\s+(%\S+) = alloca ")
_COPY = re.compile(
    r"\s+call void @llvm\.memcpy\.p0\.p0\.i64\(ptr align (\d+) (.+?), "
    r"ptr align (\d+) (.+), i64 (\d+), i1 false\)"
)
_SCALAR = re.compile(
    r"\s+(?:store|%\S+ = load) (?:volatile )?(\w+)(?: .*?)?, ptr (.+?), align (\d+)"
)
_TYPE_OF = re.compile(r", !tbaa (!\d+)")
_PLACE = re.compile(r", !dbg !\d+")
_TYPES = re.compile(r", !tbaa(?:\.struct)? !\d+")


def place_of(line: str) -> str:
    """Returns the suffix of a line of LLVM IR that tells its place in the source."""
    place = _PLACE.search(line)
    return place[0] if place else ""


class _Root(enum.Enum):
    """What an access reaches, as far as clang knows."""

    DECLARED = enum.auto()  # part of a variable, whose declaration tells the alignment
    POINTER = enum.auto()  # whatever a pointer says; its type tells the alignment
    OWN = enum.auto()  # a whole variable of the function
    UNKNOWN = enum.auto()  # a member: its struct may be packed


_MEMORY = {_Root.DECLARED, _Root.POINTER}


@dataclass(slots=True)
class _Pointers:
    """Where the pointers of one function come from."""

    offsets: dict[str, tuple[str, bool]] = field(default_factory=dict)
    own: set[str] = field(default_factory=set)

    def note(self, line: str) -> None:
        if line.startswith("define "):
            self.offsets.clear()
            self.own.clear()
        elif found := _ALLOCATION.match(line):
            self.own.add(found[1])
        elif found := _OFFSET.match(line):
            base, *indices = re.split(r", i\d", found[3])
            self.offsets[found[1]] = base, found[2].startswith("%") and len(indices) > 1

    def root(self, operand: str) -> _Root:
        if operand in self.own:
            return _Root.OWN
        while operand in self.offsets:
            operand, is_member = self.offsets[operand]
            if is_member:
                return _Root.UNKNOWN
        if "@" in operand:
            return _Root.UNKNOWN if _MEMBER.search(operand) else _Root.DECLARED
        return _Root.UNKNOWN if operand in self.own else _Root.POINTER


@dataclass(frozen=True, slots=True)
class _Side:
    """One pointer of an access to a whole object.

    Attributes:
      line: Number of the line in the text.
      column: Of the alignment that clang states.
      align: That alignment.
      kind: What is accessed.
      root: Where the pointer comes from.
      needs: The alignment of a number; 0 if the access copies an object.
    """

    line: int
    column: int
    align: int
    kind: str
    root: _Root
    needs: int = 0


def with_natural_alignment(ir: str) -> str:
    """Returns LLVM IR, as clang writes it first, with alignments in place of types.

    What is accessed whole has the alignment of its type, even where it is part of a
    variable of another type. A copy of a vector from memory to memory is one access.
    """
    tags = _TAG.findall(ir)
    whole = {tag for tag, base, own, at in tags if base == own and at == "0"}
    lines = ir.split("\n")
    sides = [*_sides(lines, whole)]
    natural: dict[str, int] = {}
    for side in sides:
        if side.root in (_Root.POINTER, _Root.OWN) and not side.needs:
            natural[side.kind] = min(side.align, natural.get(side.kind, side.align))
    # The last ones first, so that columns stay what they are.
    for side in reversed(sides):
        align = side.needs or natural.get(side.kind, 0)
        if side.root is _Root.DECLARED and align > side.align:
            line, end = lines[side.line], side.column + len(str(side.align))
            lines[side.line] = f"{line[: side.column]}{align}{line[end:]}"
    for to, from_ in itertools.pairwise(sides):
        if to.line == from_.line and {to.root, from_.root} & _MEMORY:
            # LLVM gives the place of the first use to a vector that it takes apart.
            kind = "<4 x i32>" if to.root in _MEMORY else "i128"
            lines[to.line] = _in_one(lines[to.line], to.line, kind)
    return _TYPES.sub("", "\n".join(lines))


def _sides(lines: list[str], whole: set[str]) -> Iterator[_Side]:
    pointers = _Pointers()
    for number, line in enumerate(lines):
        pointers.note(line)
        typed = _TYPE_OF.search(line)
        if typed is None or typed[1] not in whole:
            continue
        if copy := _COPY.match(line):
            for group in (1, 3):
                root = pointers.root(copy[group + 1])
                place = number, copy.start(group), int(copy[group])
                yield _Side(*place, typed[1], root)
        elif (scalar := _SCALAR.match(line)) and scalar[1] in NATURAL:
            place = number, scalar.start(3), int(scalar[3])
            root = pointers.root(scalar[2])
            yield _Side(*place, typed[1], root, NATURAL[scalar[1]])


def _in_one(line: str, number: int, kind: str) -> str:
    """Writes a copy of vectors as loads and stores, which are not split further."""
    copy = _COPY.match(line)
    if copy is None:
        return line
    aligned, size = min(int(copy[1]), int(copy[3])) >= _WIDE, int(copy[5])
    if not aligned or size != _WIDE:
        return line
    suffix = place_of(line)
    return (
        f"  %vector.{number} = load {kind}, ptr {copy[4]}, align {_WIDE}{suffix}\n"
        f"  store {kind} %vector.{number}, ptr {copy[2]}, align {_WIDE}{suffix}"
    )
