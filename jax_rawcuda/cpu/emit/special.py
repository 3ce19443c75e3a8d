"""Reads the special registers of a thread."""

from __future__ import annotations

from ..._base.errors import UnsupportedError
from ..ptx.special_registers import CLOCKS, CONSTANTS, FIELDS, VECTORS, WARP_SIZE
from .ir import IrWriter

# Clusters of the grid: blocks, divided by the blocks of a cluster.
_CLUSTER_VECTORS = {"%clusterid": ("ctaid", "0"), "%nclusterid": ("nctaid", "1")}


def read(em: IrWriter, text: str) -> tuple[str, str]:
    """Reads a special register.

    Returns:
      The value and its LLVM type.
    """
    name, _, axis_name = text.partition(".")
    axis = "xyzw".index(axis_name) if axis_name else 0
    if name == "%tid":
        return (em.thread_index[axis] if axis < 3 else "0"), "i32"
    if name in _CLUSTER_VECTORS:
        if axis == 3:
            return _CLUSTER_VECTORS[name][1], "i32"
        blocks = em.context(_CLUSTER_VECTORS[name][0], axis)
        size = em.context("cluster_nctaid", axis)
        return em.op(f"udiv i32 {blocks}, {size}"), "i32"
    if name == "%is_explicit_cluster":
        return em.op(f"icmp ne i32 {em.context('cluster_size')}, 1"), "i1"
    if name in VECTORS:
        field, default = VECTORS[name]
        return (em.context(field, axis) if axis < 3 else default), "i32"
    if name in FIELDS:
        return em.context(FIELDS[name]), "i64" if name == "%gridid" else "i32"
    if name in CONSTANTS:
        return CONSTANTS[name], "i32"
    if name == "%laneid":
        return em.op(f"and i32 {em.thread}, {WARP_SIZE - 1}"), "i32"
    if name == "%warpid":
        return em.op(f"lshr i32 {em.thread}, 5"), "i32"
    if name == "%nwarpid":
        rounded = em.op(f"add i32 {em.context('thread_count')}, {WARP_SIZE - 1}")
        return em.op(f"lshr i32 {rounded}, 5"), "i32"
    if name.startswith("%lanemask_"):
        return _lane_mask(em, name.removeprefix("%lanemask_")), "i32"
    if name in CLOCKS:
        return _clock(em, name)
    if name in ("%envreg1", "%envreg2"):
        # cooperative_groups reads the address of its grid workspace here.
        workspace = em.context("grid_workspace")
        if name == "%envreg1":
            workspace = em.op(f"lshr i64 {workspace}, 32")
        return em.op(f"trunc i64 {workspace} to i32"), "i32"
    raise UnsupportedError(f"special register {text} is not available on the CPU")


def _lane_mask(em: IrWriter, which: str) -> str:
    lane = em.op(f"and i32 {em.thread}, {WARP_SIZE - 1}")
    equal = em.op(f"shl i32 1, {lane}")
    if which == "eq":
        return equal
    less = em.op(f"sub i32 {equal}, 1")
    if which == "lt":
        return less
    if which == "ge":
        return em.op(f"xor i32 {less}, -1")
    less_equal = em.op(f"or i32 {less}, {equal}")
    if which == "le":
        return less_equal
    return em.op(f"xor i32 {less_equal}, -1")


def _clock(em: IrWriter, name: str) -> tuple[str, str]:
    value = em.intrinsic("jrc_clock", "i64")
    if name in ("%clock64", "%globaltimer"):
        return value, "i64"
    if name.endswith("_hi"):
        value = em.op(f"lshr i64 {value}, 32")
    return em.op(f"trunc i64 {value} to i32"), "i32"
