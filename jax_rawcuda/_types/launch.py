"""Launch geometry: grid, block and cluster, with the limits every device shares."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

from .._base.errors import ValidationError

Extents: TypeAlias = int | Iterable[int]
Dim3: TypeAlias = tuple[int, int, int]

MAX_THREADS = 1024
MAX_BLOCK: Dim3 = (1024, 1024, 64)
MAX_GRID: Dim3 = (2**31 - 1, 65535, 65535)
MAX_SHARED_MEM_BYTES = 232_448  # 227 KiB: the most that any device allows a block
MAX_CLUSTER = 8  # blocks; larger ones are not portable between devices


@dataclass(frozen=True, slots=True)
class LaunchConfig:
    """Where a kernel runs: how many blocks, and how many threads in each.

    Extents are one to three ints, x first; missing ones are 1. A grid with a zero
    extent is legal and means that nothing is launched.

    Args:
      grid: Blocks per grid.
      block: Threads per block.
      shared_mem_bytes: Dynamic shared memory per block, in bytes.
      cluster: Blocks per thread block cluster, or None.
      cooperative: Whether all blocks must be resident at once (grid-wide barriers).
      programmatic: Whether the kernel may start before its predecessor has ended
        (programmatic dependent launch).

    Raises:
      ValidationError: An extent is outside CUDA's limits.

    >>> LaunchConfig(grid=4, block=(16, 16))
    LaunchConfig(grid=(4, 1, 1), block=(16, 16, 1))
    """

    grid: Dim3
    block: Dim3
    shared_mem_bytes: int
    cluster: Dim3 | None
    cooperative: bool
    programmatic: bool

    def __init__(
        self,
        grid: Extents,
        block: Extents,
        shared_mem_bytes: int = 0,
        cluster: Extents | None = None,
        cooperative: bool = False,
        programmatic: bool = False,
    ) -> None:
        set_field = object.__setattr__
        set_field(self, "grid", _dim3("grid", grid))
        set_field(self, "block", _dim3("block", block))
        set_field(
            self, "shared_mem_bytes", _integer("shared_mem_bytes", shared_mem_bytes)
        )
        set_field(
            self, "cluster", None if cluster is None else _dim3("cluster", cluster)
        )
        set_field(self, "cooperative", bool(cooperative))
        set_field(self, "programmatic", bool(programmatic))
        _check(self)

    @classmethod
    def flat(
        cls, threads: int, block: int = 256, shared_mem_bytes: int = 0
    ) -> LaunchConfig:
        """Covers `threads` threads with one-dimensional blocks.

        The last block may be partly idle, so the kernel needs a bounds check. Zero
        threads give an empty grid: nothing is launched.

        Args:
          threads: Threads in all, or more.
          block: Threads per block.
          shared_mem_bytes: Dynamic shared memory per block, in bytes.

        Raises:
          ValidationError: A number is outside CUDA's limits.

        >>> LaunchConfig.flat(1000).grid
        (4, 1, 1)
        """
        count, size = _integer("threads", threads), _integer("block", block)
        if size == 0:
            raise ValidationError("LaunchConfig.flat: block=0; it needs at least 1.")
        return cls(-(-count // size), size, shared_mem_bytes)

    @property
    def threads_per_block(self) -> int:
        """Product of the block's extents."""
        return prod(self.block)

    @property
    def is_empty(self) -> bool:
        """Whether the grid has no blocks, so that nothing is launched."""
        return 0 in self.grid

    def __repr__(self) -> str:
        parts = [f"grid={self.grid}", f"block={self.block}"]
        if self.shared_mem_bytes:
            parts.append(f"shared_mem_bytes={self.shared_mem_bytes}")
        if self.cluster is not None:
            parts.append(f"cluster={self.cluster}")
        parts += [f"{flag}=True" for flag in _FLAGS if getattr(self, flag)]
        return f"LaunchConfig({', '.join(parts)})"


_FLAGS = ("cooperative", "programmatic")


def launch_config(
    owner: str,
    grid: Extents,
    block: Extents,
    shared_mem_bytes: int = 0,
    cluster: Extents | None = None,
    cooperative: bool = False,
) -> LaunchConfig:
    """Makes a LaunchConfig whose errors name `owner`, a kernel."""
    try:
        return LaunchConfig(grid, block, shared_mem_bytes, cluster, cooperative)
    except ValidationError as error:
        text = str(error).removeprefix("LaunchConfig: ")
        raise ValidationError(f"{owner}: {text}") from None


def ceil_div_grid(threads: Dim3, block: Dim3) -> Dim3:
    """Counts the blocks that cover `threads` threads on each axis."""
    x, y, z = (-(-t // max(b, 1)) for t, b in zip(threads, block, strict=True))
    return x, y, z


def dim3(owner: str, name: str, value: Extents) -> Dim3:
    """Reads one to three extents; errors name `owner`."""
    try:
        return _dim3(name, value)
    except ValidationError as error:
        text = str(error).removeprefix("LaunchConfig: ")
        raise ValidationError(f"{owner}: {text}") from None


def _integer(name: str, value: object) -> int:
    if not isinstance(value, bool):
        try:
            number = operator.index(value)  # type: ignore[arg-type]
        except TypeError:
            pass
        else:
            if number < 0:
                raise ValidationError(
                    f"LaunchConfig: {name}={number}; it cannot be negative."
                )
            return number
    raise ValidationError(
        f"LaunchConfig: {name} needs Python ints, got {_describe(value)}. "
        "Launch geometry is static: compute it from shapes, not from array values."
    )


def _describe(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else type(value).__name__


def _dim3(name: str, value: Extents) -> Dim3:
    extents = tuple(value) if isinstance(value, tuple | list) else (value,)
    if not 1 <= len(extents) <= 3:
        raise ValidationError(
            f"LaunchConfig: {name}={value!r} has {len(extents)} extents; "
            "it needs one to three."
        )
    x, y, z = (_integer(name, e) for e in (*extents, 1, 1)[:3])
    return x, y, z


def _check(config: LaunchConfig) -> None:
    for text in (_block_fault(config), _grid_fault(config), _cluster_fault(config)):
        if text:
            raise ValidationError(f"LaunchConfig: {text}")
    if config.shared_mem_bytes > MAX_SHARED_MEM_BYTES:
        raise ValidationError(
            f"LaunchConfig: shared_mem_bytes={config.shared_mem_bytes}; no device "
            f"allows more than {MAX_SHARED_MEM_BYTES} bytes per block."
        )


def _block_fault(config: LaunchConfig) -> str:
    block = config.block
    if 0 in block:
        return f"block={block} is empty; each extent needs at least 1."
    if (threads := config.threads_per_block) > MAX_THREADS:
        return (
            f"block={block} has {threads} threads; "
            f"the limit is {MAX_THREADS} threads per block."
        )
    return _axis_fault("block", block, MAX_BLOCK, "Use a smaller extent.")


def _grid_fault(config: LaunchConfig) -> str:
    advice = "Put the large extent on x, or loop in the kernel."
    return _axis_fault("grid", config.grid, MAX_GRID, advice)


def _axis_fault(name: str, extents: Dim3, limits: Dim3, advice: str) -> str:
    for axis, extent, limit in zip("xyz", extents, limits, strict=True):
        if extent > limit:
            return f"{name}={extents}; the limit on {axis} is {limit}. {advice}"
    return ""


def _cluster_fault(config: LaunchConfig) -> str:
    if (cluster := config.cluster) is None:
        return ""
    if 0 in cluster:
        return f"cluster={cluster} is empty; each extent needs at least 1."
    if (blocks := prod(cluster)) > MAX_CLUSTER:
        return (
            f"cluster={cluster} has {blocks} blocks; the portable limit is "
            f"{MAX_CLUSTER} blocks per cluster. Use a smaller cluster."
        )
    for axis, grid, size in zip("xyz", config.grid, cluster, strict=True):
        if grid % size:
            return (
                f"grid={config.grid} is not divisible by cluster={cluster} on {axis}. "
                "Round the grid up to whole clusters."
            )
    return ""
