"""A kernel with a signature but no source, for tests that never run it."""

from __future__ import annotations

import hashlib

from jax_rawcuda._base.errors import BackendError
from jax_rawcuda._module.code import ModuleImage
from jax_rawcuda._module.module import Function, Module
from jax_rawcuda._types.dtypes import value_type
from jax_rawcuda._types.signature import KernelSignature, Parameter


class FakeModule(Module):
    def __init__(self, text):
        super().__init__(None, hashlib.sha256(text.encode()).digest())


class FakeFunction(Function):
    def __init__(self, declaration):
        name, _, rest = declaration.partition("(")
        super().__init__(FakeModule(declaration), name)
        texts = [t for t in rest.rstrip(")").split(",") if t.strip()]
        parameters = tuple(parameter(i, text) for i, text in enumerate(texts))
        self._signature = KernelSignature(name, parameters)

    @property
    def attributes(self):
        raise BackendError("no compiler")

    def image(self, target):
        data = f"{target.platform}:{self.name}".encode()
        kind = "cubin" if target.platform == "cuda" else "host_ptx"
        digest = hashlib.sha256(data).digest()
        return ModuleImage(data, kind, digest, ((self.name, self.name),))

    def ptx(self, _target):
        return ".version 8.0\n.target sm_90\n.address_size 64\n"

    def lowered_name(self, _target):
        return self.name


def parameter(index, text, size=None):
    """Reads `const float* x` or `unsigned int n`."""
    head, _, name = text.strip().rpartition(" ")
    if head.endswith("*"):
        const = head.startswith("const ")
        pointee = head.removeprefix("const ").removesuffix("*").strip()
        spelled = f"{pointee} const*" if const else f"{pointee}*"
        return Parameter(index, name, spelled, 8, 8, pointee, const)
    if size is None:
        known = value_type(head)
        size = known.size if known else 16
    return Parameter(index, name, head, size, min(size, 8))


SAXPY = FakeFunction(
    "saxpy(const float* x, const float* y, float a, float* out, int n)"
)
