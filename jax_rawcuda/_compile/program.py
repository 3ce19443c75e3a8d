"""Program: a source text with its options, and what its compilation depends on."""

from __future__ import annotations

import dataclasses
import re
import uuid
from collections.abc import Sequence

from .._base import cache
from .._base.errors import ValidationError
from .._source.declarations import KernelDeclaration, find_kernels
from .._source.headers import AUTO_INCLUDES, auto_includes, cuda_headers_version
from .._source.includes import Includes, find_includes
from .._source.options import NvrtcOptions
from .._source.shims import shims
from .._source.text import Location, line_directive

_LINES = re.compile(r"\b(?:assert|__LINE__|__FILE__|__builtin_(?:LINE|FILE))\b")


@dataclasses.dataclass(frozen=True, slots=True)
class Program:
    """A text to compile.

    Attributes:
      name: What messages call it: the name given, a file's name or its first kernel.
      source: The user's text.
      options: For the compiler.
      location: Where the text stands in the user's file, when that is known.
      include_dir: The directory of the file that the text came from.
      kernels: The `__global__` functions that the text spells out.
      declared: Those of the user's headers as well.
      includes: The headers as they are when the program is made. It compiles no others.
      lines_matter: Whether the compiled code holds line numbers or file names.
    """

    name: str
    source: str
    options: NvrtcOptions
    location: Location | None = None
    include_dir: str | None = None
    kernels: tuple[KernelDeclaration, ...] = dataclasses.field(init=False, repr=False)
    declared: tuple[KernelDeclaration, ...] = dataclasses.field(init=False, repr=False)
    includes: Includes = dataclasses.field(init=False, repr=False)
    lines_matter: bool = dataclasses.field(init=False, repr=False)

    def __post_init__(self) -> None:
        found = self._find_includes()
        lines = any(map(_LINES.search, (*found.texts, *self.options.macros.values())))
        declaring = [text for text in found.texts[1:] if "__global__" in text]
        values: dict[str, object] = {
            "kernels": find_kernels(self.source, macros=found.macros),
            "declared": find_kernels(self.source, *declaring, macros=found.macros),
            "includes": dataclasses.replace(found, texts=()),  # they may be large
            "lines_matter": lines or self.options.line_info or self.options.debug,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def include_dirs(self) -> tuple[str, ...]:
        """The user's directories; last, that of the file itself."""
        own = (self.include_dir,) if self.include_dir else ()
        return (*self.options.include_paths, *own)

    @property
    def file_name(self) -> str:
        """What the compiler calls the text where no `#line` says otherwise."""
        return self.name if "." in self.name else f"{self.name}.cu"

    def text(self, expressions: Sequence[str] = ()) -> str:
        """Returns the source with what has to stand in front of it."""
        includes = auto_includes(self.source, expressions)
        front = "".join(f"#include <{name}>\n" for name in includes)
        location = self.location or Location(self.file_name, 1)
        return f"{front}{line_directive(location)}{self.source}\n"

    def declaration(
        self, name: str, parameters: int | None = None
    ) -> KernelDeclaration | None:
        """Returns what the texts say of a kernel, by name or name expression.

        Args:
          name: Such as `ns::scale<float>`, or `scale(float*)` for an overload.
          parameters: Their number, to choose between overloads.
        """
        base = re.split(r"[<(]", name)[0]
        fitting = [
            kernel
            for kernel in self.declared
            if parameters in (None, len(kernel.parameters))
        ]
        named = [kernel for kernel in fitting if kernel.is_named(base)]
        # The symbol of an `extern "C"` kernel has no namespace.
        named += [k for k in fitting if k.c_linkage and k.name.endswith(f"::{base}")]
        return named[0] if named else None

    def content_key(self, *extra: str) -> str:
        """Returns a digest of all that the compiled code depends on, and of `extra`.

        Lines are left out where the code cannot tell them: a kernel that moves in its
        file is not compiled again.
        """
        options = dataclasses.replace(self.options, include_dirs=())
        return cache.fingerprint(
            self.source,
            repr((options, auto_includes(self.source, extra))),
            repr(self.place if self.lines_matter else None),
            repr(sorted(shims().items())),
            cuda_headers_version(),
            *self.includes.key,
            # Nobody knows which headers a computed include opens: compile each time.
            "" if self.includes.is_complete else uuid.uuid4().hex,
            *extra,
        )

    @property
    def place(self) -> tuple[object, ...]:
        """The files that lines are told of."""
        return self.location, self.file_name, self.include_dirs

    def check_includes(self) -> None:
        """Refuses headers that changed since the program was made.

        Raises:
          ValidationError: The headers are not, or no longer, those of the key.
        """
        now = self._find_includes()
        if now.key != self.includes.key:
            files = ", ".join(self.includes.changed(now)) or "a header"
            raise ValidationError(
                f"{self.name}: {files} changed since the source was given, which "
                "compiles only as it was. Make the kernel or module again."
            )

    def _find_includes(self) -> Includes:
        automatic = "".join(f"#include <{name}>\n" for name in AUTO_INCLUDES)
        texts = self.source, *self.options.header_texts.values(), automatic
        return find_includes(texts, self.include_dirs, self.options.macros)
