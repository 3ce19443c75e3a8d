"""Work-item loops: LLVM IR that runs a body for the threads `%t0` to `%t1` of a block.

LLVM vectorises over these loops, so what the threads of a warp do together on a device,
they do here in the lanes of a vector. The body runs for thread `%lt`, also as the i64
`%lt64`, and ends in the block `step`. Where it asks for `threadIdx`, a loop over rows
around one along a row saves it a division per thread, and shows LLVM which addresses
follow each other.
"""

from __future__ import annotations

from collections.abc import Iterable


def over_threads(body: Iterable[str], back: str) -> list[str]:
    """Returns a loop for a body that does not ask for `threadIdx`.

    Args:
      body: Lines, the first of them in the loop's header.
      back: Metadata of the branch back.
    """
    return [
        "  %any = icmp slt i32 %t0, %t1",
        "  br i1 %any, label %cols, label %done",
        "cols:",
        "  %lt = phi i32 [ %t0, %pre ], [ %ltn, %step ]",
        "  %lt64 = zext i32 %lt to i64",
        *body,
        "step:",
        "  %ltn = add nuw nsw i32 %lt, 1",
        "  %ltd = icmp slt i32 %ltn, %t1",
        f"  br i1 %ltd, label %cols, label %done, {back}",
        "done:",
        "  ret void",
    ]


def over_rows(
    body: Iterable[str],
    back: str,
    width: str,
    height: str,
    test: Iterable[str] = (),
    passed: str = "true",
) -> list[str]:
    """Returns a loop over rows of threads and one over `threadIdx.x`, the i32 `%x`.

    The body may use `%y` and `%z`, and leave the row through the block `rowlatch`.

    Args:
      body: Lines, the first of them in the inner loop's header.
      back: Metadata of the inner loop's branch back.
      width: `blockDim.x`, an i32.
      height: `blockDim.y`.
      test: Lines that look at the part of a row from `%x0` to `%xl`.
      passed: The i1 value that they find. If false, a body that leaves the row shall
        not end it for other threads.
    """
    return [
        "  %any = icmp slt i32 %t0, %t1",
        "  br i1 %any, label %rows, label %done",
        "rows:",
        "  %t = phi i32 [ %t0, %pre ], [ %tn, %rowlatch ]",
        f"  %row = udiv i32 %t, {width}",
        f"  %x0 = urem i32 %t, {width}",
        f"  %y = urem i32 %row, {height}",
        f"  %z = udiv i32 %row, {height}",
        "  %left = sub i32 %t1, %t",
        "  %xe0 = add i32 %x0, %left",
        f"  %xc = icmp ult i32 %xe0, {width}",
        f"  %xw = select i1 %xc, i32 %xe0, i32 {width}",
        "  %xl = sub i32 %xw, 1",
        *test,
        "  %x1 = add i32 %x0, 1",
        f"  %xe = select i1 {passed}, i32 %xw, i32 %x1",
        "  %tb = sub i32 %t, %x0",
        "  br label %cols",
        "cols:",
        "  %x = phi i32 [ %x0, %rows ], [ %xn, %step ]",
        "  %lt = add nuw nsw i32 %tb, %x",
        "  %lt64 = zext i32 %lt to i64",
        *body,
        "step:",
        "  %xn = add nuw nsw i32 %x, 1",
        "  %xd = icmp ult i32 %xn, %xe",
        f"  br i1 %xd, label %cols, label %rowlatch, {back}",
        "rowlatch:",
        "  %dx = sub i32 %xe, %x0",
        "  %tn = add i32 %t, %dx",
        "  %td = icmp slt i32 %tn, %t1",
        "  br i1 %td, label %rows, label %done",
        "done:",
        "  ret void",
    ]
