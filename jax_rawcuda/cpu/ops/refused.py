"""Instructions that cannot run on a CPU, with advice."""

from __future__ import annotations

from ..emit.emitter import Emitter
from ..ptx.instruction import Instruction
from .common import Handler

_TEXTURE = "textures and surfaces are not available on the CPU; read global memory"
_TENSOR_CORE = (
    "warpgroup and fifth-generation tensor-core instructions are not available on the "
    "CPU; guard them with __CUDA_ARCH__ and give an mma.sync or scalar path"
)
_VIDEO = "video instructions are not available on the CPU; use plain integer arithmetic"
_WHY = {
    **dict.fromkeys(
        ("tex", "tld4", "txq", "suld", "sust", "sured", "suq", "istypep"), _TEXTURE
    ),
    **dict.fromkeys(("wgmma", "tcgen05"), _TENSOR_CORE),
    **dict.fromkeys(
        (f"v{name}{lanes}" for name in ("add", "sub", "absdiff", "min", "max", "set")
         for lanes in ("", "2", "4")),
        _VIDEO,
    ),
    **dict.fromkeys(("vavrg2", "vavrg4", "vmad", "vshl", "vshr"), _VIDEO),
    "multimem": "multicast memory is not available on the CPU",
    "tensormap": "tensor maps are not available on the CPU",
    "clusterlaunchcontrol": "clusters cannot take over the work of others on the CPU; "
    "launch one block per tile",
    "alloca": "dynamic stack allocation is not available on the CPU",
    "stacksave": "dynamic stack allocation is not available on the CPU",
    "stackrestore": "dynamic stack allocation is not available on the CPU",
}  # fmt: skip


def _refuse(em: Emitter, inst: Instruction) -> None:
    raise em.unsupported(inst, _WHY[inst.opcode])


OPCODES: dict[str, Handler] = dict.fromkeys(_WHY, _refuse)
