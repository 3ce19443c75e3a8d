"""The types of PTX: their sizes and names."""

from __future__ import annotations


def round_up(value: int, multiple: int) -> int:
    """Rounds up to a multiple."""
    return -(-value // multiple) * multiple


# Bytes of every PTX type that can be declared.
SIZES = {
    **dict.fromkeys(("pred", "b8", "u8", "s8"), 1),
    **dict.fromkeys(("b16", "u16", "s16", "f16", "bf16"), 2),
    **dict.fromkeys(("b32", "u32", "s32", "f32", "f16x2", "bf16x2", "tf32"), 4),
    **dict.fromkeys(("b64", "u64", "s64", "f64", "f32x2"), 8),
    "b128": 16,
}
TYPE_NAMES = frozenset(SIZES) | {
    "u16x2",
    "s16x2",
    "e4m3",
    "e5m2",
    "e4m3x2",
    "e5m2x2",
    "e2m1x2",
    "ue8m0x2",
    "u4",
    "s4",
    "b1",
}
