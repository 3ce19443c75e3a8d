"""HTML for notebooks."""

from __future__ import annotations

import dataclasses
import html

from .._device.loaded_kernel import FunctionAttributes
from .._types.signature import KernelSignature, c_spelling


def function_table(signature: KernelSignature, attributes: FunctionAttributes) -> str:
    """Returns a table of a kernel's parameters, and a line on what it takes."""
    rows = "".join(
        f"<tr><td>{p.index}</td><td><code>{html.escape(c_spelling(p.type))}</code></td>"
        f"<td>{html.escape(p.name)}</td><td>{p.size}</td></tr>"
        for p in signature.parameters
    )
    known = ", ".join(
        f"{name.replace('_', ' ')} {value:,}"
        for name, value in dataclasses.asdict(attributes).items()
        if isinstance(value, int)
    )
    return (
        f"<b><code>{html.escape(signature.kernel)}</code></b> "
        f"<small>{html.escape(attributes.arch)}: {known}</small>"
        "<table><thead><tr><th></th><th>type</th><th>name</th><th>bytes</th></tr>"
        f"</thead><tbody>{rows}</tbody></table>"
    )
