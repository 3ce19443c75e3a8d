"""Special registers."""

from __future__ import annotations

WARP_SIZE = 32
VECTORS = {
    "%ntid": ("ntid", "1"),
    "%nctaid": ("nctaid", "1"),
    "%ctaid": ("ctaid", "0"),
    "%cluster_ctaid": ("cluster_ctaid", "0"),
    "%cluster_nctaid": ("cluster_nctaid", "1"),
}


FIELDS = {
    "%gridid": "grid_id",
    "%dynamic_smem_size": "dynamic_shared",
    "%total_smem_size": "total_shared",
    "%aggr_smem_size": "total_shared",
    "%cluster_ctarank": "cluster_rank",
    "%cluster_nctarank": "cluster_size",
}
CONSTANTS = {"WARP_SZ": str(WARP_SIZE), "%smid": "0", "%nsmid": "1"}
CLOCKS = (
    "%clock",
    "%clock64",
    "%clock_hi",
    "%globaltimer",
    "%globaltimer_lo",
    "%globaltimer_hi",
)
# Names that vary between the threads of a block.
THREAD_DEPENDENT = ("%tid", "%laneid", "%warpid", "%lanemask_")
NAMES = frozenset(
    {
        *VECTORS,
        *FIELDS,
        *CONSTANTS,
        *CLOCKS,
        "%tid",
        "%laneid",
        "%warpid",
        "%nwarpid",
        "%lanemask_eq",
        "%lanemask_le",
        "%lanemask_lt",
        "%lanemask_ge",
        "%lanemask_gt",
        "%clusterid",
        "%nclusterid",
        "%is_explicit_cluster",
        "%reserved_smem_offset_begin",
        "%reserved_smem_offset_end",
        "%reserved_smem_offset_cap",
        "%current_graph_exec",
    }
)


def is_special(text: str) -> bool:
    """Whether an operand's text names a special register."""
    name = text.partition(".")[0]
    return name in NAMES or name.startswith(("%envreg", "%pm"))


def is_clock(name: str) -> bool:
    """Whether a special register is a clock."""
    return name in CLOCKS
