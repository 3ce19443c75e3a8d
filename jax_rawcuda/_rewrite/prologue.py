"""What a changed entry does first: it finds its element of the batch, and addresses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .adaptation import Adaptation


class Names:
    """Names that the text does not have yet.

    Attributes:
      prefix: Of all of them.
    """

    def __init__(self, text: str) -> None:
        self.prefix = "jrc_"
        while self.prefix in text:
            self.prefix += "_"

    @property
    def scratch(self) -> str:
        """A register of 32 bits, in a scope of its own."""
        return f"%{self.prefix}s"

    def address(self, index: int) -> str:
        """The register that holds a changed parameter."""
        return f"%{self.prefix}p{index}"

    def appended(self, adaptation: Adaptation) -> tuple[str, ...]:
        """The appended parameters, in the order of `Adaptation.appended`."""
        if not adaptation.axes:
            return ()
        return (
            f"{self.prefix}start",
            *(
                name
                for axis in range(1, adaptation.axes)
                for name in (self.size(axis), self.reciprocal(axis))
            ),
            *(
                self.stride(index, axis)
                for index in adaptation.batched
                for axis in range(adaptation.axes)
            ),
        )

    def size(self, axis: int) -> str:
        """The parameter with the size of a batch axis."""
        return f"{self.prefix}size_{axis}"

    def reciprocal(self, axis: int) -> str:
        """The parameter with the reciprocal of that size."""
        return f"{self.prefix}reciprocal_{axis}"

    def stride(self, index: int, axis: int) -> str:
        """The parameter with the stride of a batched parameter."""
        return f"{self.prefix}stride_{index}_{axis}"


def write_prologue(
    adaptation: Adaptation, parameters: Sequence[str], names: Names, *, wait: bool
) -> str:
    """Writes PTX that goes in front of an entry's first instruction.

    Args:
      adaptation: What is changed.
      parameters: The names of the entry's own parameters.
      names: Whence to take names.
      wait: Whether kernels before this one may still run: who reads a scalar out of
        memory must wait for them.
    """
    changed = sorted({*adaptation.batched, *adaptation.dynamic})
    lines = [f".reg .b64 {names.address(index)};" for index in changed]
    if wait and adaptation.dynamic:
        lines.append("griddepcontrol.wait;")
    value, index_of = f"%{names.prefix}v", f"%{names.prefix}i"
    if adaptation.axes:
        lines += _element(adaptation, names, value, index_of)
    for index in changed:
        address = names.address(index)
        lines.append(f"ld.param.u64 {address}, [{parameters[index]}];")
        if index in adaptation.batched:
            for axis in range(adaptation.axes):
                lines += (
                    f"ld.param.u64 {value}, [{names.stride(index, axis)}];",
                    f"mad.lo.u64 {address}, {index_of}{axis}, {value}, {address};",
                )
        if index in adaptation.dynamic:
            lines.append(f"cvta.to.global.u64 {address}, {address};")
    return "".join(f"{line}\n\t" for line in lines)


def _element(
    adaptation: Adaptation, names: Names, value: str, index_of: str
) -> Iterator[str]:
    """Finds the block's index along each batch axis, the innermost axis first."""
    block = f"%{names.prefix}b"
    yield f".reg .b32 {block};"
    yield f".reg .b64 {value}, {index_of}<{adaptation.axes}>;"
    yield f"mov.u32 {block}, %ctaid.z;"
    if adaptation.grid_z != 1:
        yield f"div.u32 {block}, {block}, {adaptation.grid_z};"
    yield f"cvt.u64.u32 {index_of}0, {block};"
    yield f"ld.param.u64 {value}, [{names.prefix}start];"
    yield f"add.u64 {index_of}0, {index_of}0, {value};"
    if adaptation.axes == 1:
        return
    quotient, product = f"%{names.prefix}q", f"%{names.prefix}m"
    yield f".reg .b32 {quotient}, {product};"
    yield f"cvt.u32.u64 {block}, {index_of}0;"
    for axis in range(adaptation.axes - 1, 0, -1):
        # ptxas must see that the index has 32 bits: then this is two instructions.
        yield f"cvt.u64.u32 {index_of}0, {block};"
        yield f"ld.param.u64 {value}, [{names.reciprocal(axis)}];"
        yield f"mul.hi.u64 {value}, {index_of}0, {value};"
        yield f"cvt.u32.u64 {quotient}, {value};"
        yield f"ld.param.u64 {value}, [{names.size(axis)}];"
        yield f"cvt.u32.u64 {product}, {value};"
        yield f"mul.lo.u32 {product}, {quotient}, {product};"
        yield f"sub.u32 {block}, {block}, {product};"
        yield f"cvt.u64.u32 {index_of}{axis}, {block};"
        yield f"mov.u32 {block}, {quotient};"
    yield f"cvt.u64.u32 {index_of}0, {block};"
