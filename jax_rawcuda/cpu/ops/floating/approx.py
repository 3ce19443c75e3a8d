"""Approximate functions, at least as accurate as the device's."""

from __future__ import annotations

from ...emit.emitter import Emitter
from ...ptx.instruction import Instruction, require
from ..common import Handler
from . import floats, halves, library
from .exponential import FLUSHING

library.add("""
define float @jrc.lg2(float %x) {
  %r = call float @llvm.log2.f32(float %x)
  ret float %r
}
define float @jrc.sin(float %x) {
  %r = call float @llvm.sin.f32(float %x)
  ret float %r
}
define float @jrc.cos(float %x) {
  %r = call float @llvm.cos.f32(float %x)
  ret float %r
}
define float @jrc.tanh(float %x) {
  %r = call float @tanhf(float %x)
  ret float %r
}
""")


def _approximate(name: str) -> Handler:
    def emit(em: Emitter, inst: Instruction) -> None:
        require(inst, "approx", "ftz")
        function = f"jrc.{name}"
        if inst.has("ftz") and inst.type == "f32":
            function = FLUSHING.get(name, function)

        def compute(em: Emitter, kind: str, values: list[str]) -> str:
            del kind
            return library.invoke(em, function, values[0])

        if inst.type in halves.TYPES:
            halves.through_f32(em, inst, compute)
        elif inst.type == "f32":
            floats.apply(em, inst, compute)
        else:
            raise em.unsupported(inst)

    return emit


OPCODES: dict[str, Handler] = {
    name: _approximate(name) for name in ("ex2", "lg2", "sin", "cos", "tanh")
}
