"""Includes: the user's headers that a text may open, and what is in them."""

# Of thousands of look-ups each is one string: no pathlib.
# ruff: noqa: PTH113, PTH117, PTH118, PTH120

# Of thousands of look-ups each is one string: no pathlib.
# ruff: noqa: PTH113, PTH117, PTH118, PTH120

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from .tokens import strip_comments

_SPLICE = re.compile(r"\\[ \t]*\r?\n")
_INCLUDE = re.compile(
    r"""(?:^[ \t]*(?:\#|%:)[ \t]*(?:include(?:_next)?|import|embed)\b
          |\b__has_(?:include(?:_next)?|embed)\s*\()
        [ \t]*(?:"(?P<quoted>[^"\n]+)"|<(?P<angled>[^>\n]+)>
          |(?P<macro>[A-Za-z_]\w*)[ \t]*(?:\((?P<argument>[^()\n]*)\))?)""",
    re.MULTILINE | re.VERBOSE,
)
_DEFINE = re.compile(
    r"^[ \t]*(?:#|%:)[ \t]*define[ \t]+(\w+)(?:\(([^()\n]*)\))?[ \t]*(.*?)[ \t]*$",
    re.MULTILINE,
)
_SPELLED = re.compile(r"""["<]([^">\n]+)[">]\Z""")


@dataclasses.dataclass(frozen=True, slots=True)
class Includes:
    """What a text may open, as it was when this was made.

    Attributes:
      key: Per text its digest, and which of the texts each include may mean. Paths are
        left out: the same contents in two places have one key.
      files: Per text its file; None for the texts in memory, which come first.
      texts: The texts themselves.
      macros: Names of the macros that they define.
      is_complete: False when some include is made by more than a plain macro.
    """

    key: tuple[str, ...]
    files: tuple[str | None, ...]
    texts: tuple[str, ...]
    macros: frozenset[str]
    is_complete: bool

    def changed(self, now: Includes) -> list[str]:
        """Lists the files that are not what they were, first those that went."""
        was = dict(zip(self.files, self.key, strict=True))
        new = dict(zip(now.files, now.key, strict=True))
        return [file for file in was | new if file and was.get(file) != new.get(file)]


def find_includes(
    texts: Sequence[str],
    include_dirs: Sequence[str] = (),
    macros: Mapping[str, str] | None = None,
) -> Includes:
    """Follows the includes of `texts` through the user's directories.

    NVRTC does not tell what it opened. So every file that an include may mean counts,
    whatever `#if` surrounds it and whichever directory comes first.

    Args:
      texts: The user's text, and the headers in memory.
      include_dirs: The user's directories.
      macros: Those of the options: one may stand where an include has its name.
    """
    return _Scan(texts, include_dirs, macros or {}).run()


class _Scan:
    """Texts by number; each is read once, however many ways lead to it."""

    def __init__(
        self,
        texts: Sequence[str],
        include_dirs: Sequence[str],
        macros: Mapping[str, str],
    ) -> None:
        self._dirs = include_dirs
        self._found: dict[str, str | None] = {}  # path -> file, looked up once
        self._real: dict[str, str] = {}  # folder -> the same without links
        self._texts: list[str] = []
        self._digests: list[str] = []
        self._links: list[dict[str, None]] = []
        self._files: list[str | None] = []
        self._numbers: dict[str, int] = {}
        for text in texts:
            self._add(text.encode())
        self._macros: dict[str, list[tuple[str, str]]] = {  # (parameters, body)
            name: [("", body)] for name, body in macros.items()
        }
        self._computed: list[tuple[int, str, str]] = []  # (text, macro, argument)

    def run(self) -> Includes:
        read, plain = 0, [True]
        while read < len(self._texts):
            self._read(read)
            read += 1
            if read == len(self._texts):  # every macro, so far, has been seen
                plain = [self._expand(*made) for made in self._computed]
        lines = zip(self._digests, self._links, strict=True)
        return Includes(
            key=tuple(" ".join([digest, *links]) for digest, links in lines),
            files=tuple(self._files),
            texts=tuple(self._texts),
            macros=frozenset(self._macros),
            is_complete=all(plain),
        )

    def _add(self, data: bytes, file: str | None = None) -> None:
        if file:
            self._numbers[file] = len(self._texts)
        self._files.append(file)
        self._texts.append(data.decode(errors="replace"))
        self._digests.append(hashlib.sha256(data).hexdigest())
        self._links.append({})

    def _read(self, number: int) -> None:
        code = strip_comments(_SPLICE.sub("", self._texts[number]))
        for name, parameters, body in _DEFINE.findall(code):
            self._macros.setdefault(name, []).append((parameters.strip(), body))
        for quoted, angled, macro, argument in _INCLUDE.findall(code):
            if macro:
                self._computed.append((number, macro, argument.strip()))
            else:
                self._follow(number, quoted or angled)

    def _expand(self, number: int, macro: str, argument: str) -> bool:
        """Follows an include that a macro names; False when it is not that plain."""
        bodies = self._macros.get(macro, [])
        for parameter, body in bodies:
            if parameter:
                body = re.sub(rf"\b{re.escape(parameter)}\b", lambda _: argument, body)
            spelled = _SPELLED.match(body)
            if spelled is None:
                return False
            self._follow(number, spelled[1])
        return bool(bodies)

    def _follow(self, number: int, name: str) -> None:
        """Notes which texts `name` may mean in a text."""
        meant: dict[str, None] = {}
        for file in self._named(name, self._files[number]):
            with contextlib.suppress(OSError):  # the compiler will say it
                if file not in self._numbers:
                    self._add(Path(file).read_bytes(), file)
                meant[str(self._numbers[file])] = None
        self._links[number][f"{name}={','.join(meant)}"] = None

    def _named(self, name: str, includer: str | None) -> Iterator[str]:
        """Yields the files that an include may mean."""
        beside = [os.path.dirname(includer)] if includer else []
        # An absolute name stays what it is in any folder.
        folders = ["/"] if os.path.isabs(name) else [*beside, *self._dirs]
        for folder in folders:
            path = os.path.join(folder, name)
            if path not in self._found:
                self._found[path] = self._locate(path)
            if file := self._found[path]:
                yield file

    def _locate(self, path: str) -> str | None:
        if not os.path.isfile(path):
            return None
        # Its own name is not resolved: its includes are looked up beside it.
        folder, name = os.path.split(path)
        if folder not in self._real:
            self._real[folder] = os.path.realpath(folder)
        return os.path.join(self._real[folder], name)
