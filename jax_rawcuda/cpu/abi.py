"""What generated code and the C++ scheduler agree on (`ffi/cpu/base/context.h`)."""

from __future__ import annotations

import enum

# Part of every object-code key: raise it when anything below changes, or a function of
# ffi/cpu that generated code calls.
ABI_VERSION = 4

# Field of the block context -> (byte offset, LLVM type). Vectors hold three elements.
CONTEXT = {
    "zero": (0, "ptr"),
    "params": (8, "ptr"),
    "shared": (16, "ptr"),
    "local": (24, "ptr"),
    "next": (32, "ptr"),
    "slots": (40, "ptr"),
    "sync_in": (48, "ptr"),
    "sync_out": (56, "ptr"),
    "ntid": (64, "i32"),
    "nctaid": (76, "i32"),
    "ctaid": (88, "i32"),
    "thread_count": (100, "i32"),
    "thread_stride": (104, "i32"),
    "dynamic_shared": (108, "i32"),
    "total_shared": (112, "i32"),
    "spin_budget": (116, "i32"),
    "spans": (120, "ptr"),
    "block": (128, "ptr"),
    "grid_id": (136, "i64"),
    "cluster_ctaid": (144, "i32"),
    "cluster_nctaid": (156, "i32"),
    "cluster_rank": (168, "i32"),
    "cluster_size": (172, "i32"),
    "grid_workspace": (176, "i64"),
    "faulted": (184, "i32"),
    "stop": (192, "ptr"),
    "stack_limit": (200, "i64"),
}

# Value of `next[thread]` once the thread has exited.
EXITED = -1


class SyncKind(enum.IntEnum):
    """What a thread waits for between two regions."""

    NONE = 0
    BARRIER = 1
    WARP_SYNC = 2
    SHUFFLE = 3
    VOTE = 4
    MATCH = 5
    ACTIVE_MASK = 6
    REDUX = 7
    YIELD = 8
    MMA = 9
    LDMATRIX = 10
    ELECT = 11
    CLUSTER = 12
    STMATRIX = 13
    WMMA = 14
    LOOP = 15
    MOVMATRIX = 16
