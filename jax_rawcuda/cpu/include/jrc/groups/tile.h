// tile.h: tiles of a block, of a warp or of several.
#pragma once
#pragma clang system_header
#include "jrc/groups/warp.h"

namespace cooperative_groups::__v1 {

// Several whole warps. They meet at a barrier and hand on values in shared memory.
template <unsigned int Size>
struct __jrc_wide_tile {
  // One per warp of the block.
  __JRC_FN static unsigned long long* __jrc_slots() {
    static __shared__ unsigned long long slots[32];
    return slots;
  }
  template <class _T>
  __JRC_FN static _T& __jrc_slot(unsigned int warp) {
    static_assert(sizeof(_T) <= 8, "tiles of several warps exchange at most 8 bytes");
    return *(_T*)(__jrc_slots() + warp);
  }
  __JRC_FN static unsigned int __jrc_warp() { return __jrc_block_rank() / 32; }
  __JRC_FN static unsigned int __jrc_first_warp() {
    return __jrc_block_rank() / Size * (Size / 32);
  }
  // All tiles of all sizes have barriers of their own, numbered like the nodes of a
  // tree. Those below 16 are the user's; `.tile` names the others, which PTX lacks.
  __JRC_FN static unsigned int __jrc_barrier() {
    return 32 + 1024 / Size + __jrc_block_rank() / Size;
  }
  __JRC_FN static unsigned int __jrc_present() {
    return min(Size, __jrc_block_size() - __jrc_block_rank() / Size * Size);
  }
  __JRC_FN static unsigned int __jrc_count(int predicate) {
    unsigned int r;
    asm volatile(
        "{\n\t.reg .pred p;\n\tsetp.ne.s32 p, %1, 0;\n\t"
        "barrier.tile.red.popc.u32 %0, %2, %3, p;\n\t}"
        : "=r"(r)
        : "r"(predicate), "r"(__jrc_barrier()), "r"(__jrc_present())
        : "memory");
    return r;
  }

  __JRC_FN static void sync() {
    asm volatile("barrier.tile.sync %0, %1;" ::"r"(__jrc_barrier()),
                 "r"(__jrc_present())
                 : "memory");
  }
  __JRC_FN static unsigned int thread_rank() { return __jrc_block_rank() % Size; }
  __JRC_FN static int any(int predicate) { return __jrc_count(predicate) != 0; }
  __JRC_FN static int all(int predicate) {
    return __jrc_count(predicate) == __jrc_present();
  }
  // Every thread names the same rank.
  template <class _T>
  __JRC_FN static _T shfl(const _T& v, unsigned int rank) {
    if (thread_rank() == rank % Size) __jrc_slot<_T>(__jrc_first_warp()) = v;
    sync();
    _T r = __jrc_slot<_T>(__jrc_first_warp());
    sync();
    return r;
  }
};

template <bool IsWide, unsigned int Size>
struct __jrc_lanes_of_tile : __jrc_tile {
  __JRC_FN __jrc_lanes_of_tile() : __jrc_tile{Size} {}
};
template <unsigned int Size>
struct __jrc_lanes_of_tile<true, Size> : __jrc_wide_tile<Size> {};

template <unsigned int Size, class Parent = void>
struct thread_block_tile : __jrc_lanes_of_tile<(Size > 32), Size> {
  static_assert(Size <= 1024 && (Size & (Size - 1)) == 0,
                "the threads of a tile are a power of two, at most 1024");
  // Among the tiles of the parent.
  unsigned int __jrc_meta_rank, __jrc_meta_size;

  __JRC_FN thread_block_tile(unsigned int rank, unsigned int size)
      : __jrc_meta_rank(rank), __jrc_meta_size(size) {}
  // `thread_block_tile<32> tile = tiled_partition<32>(block)` leaves the parent out.
  __JRC_FN operator thread_block_tile<Size>() const {
    return {__jrc_meta_rank, __jrc_meta_size};
  }
  __JRC_FN static constexpr unsigned int size() { return Size; }
  __JRC_FN static constexpr unsigned int num_threads() { return Size; }
  __JRC_FN unsigned int meta_group_rank() const { return __jrc_meta_rank; }
  __JRC_FN unsigned int meta_group_size() const { return __jrc_meta_size; }
};

__JRC_FN thread_block_tile<1> this_thread() { return {0, 1}; }

template <unsigned int Size>
__JRC_FN thread_block_tile<Size, thread_block> tiled_partition(const thread_block&) {
  return {__jrc_block_rank() / Size, (__jrc_block_size() + Size - 1) / Size};
}
template <unsigned int Size, unsigned int ParentSize, class Parent>
__JRC_FN thread_block_tile<Size, thread_block_tile<ParentSize, Parent>> tiled_partition(
    const thread_block_tile<ParentSize, Parent>& parent) {
  static_assert(Size < ParentSize, "a tile is smaller than what it is a part of");
  return {parent.thread_rank() / Size, ParentSize / Size};
}

// What tiles of several warps need is at hand without it.
template <unsigned int MaxBlockSize = 1024>
struct block_tile_memory {
  char __jrc_unused;
};
template <unsigned int MaxBlockSize>
__JRC_FN thread_block this_thread_block(block_tile_memory<MaxBlockSize>&) {
  return {};
}

template <class Group, class Function, class... Arguments>
__JRC_FN auto invoke_one_broadcast(const Group& group, Function&& function,
                                   Arguments&&... arguments)
    -> decltype(function(static_cast<Arguments&&>(arguments)...)) {
  decltype(function(static_cast<Arguments&&>(arguments)...)) r{};
  if (group.thread_rank() == 0) r = function(static_cast<Arguments&&>(arguments)...);
  return group.shfl(r, 0);
}

// Reductions and scans go over the lanes first: of the group, or of its warps.
template <class Group>
__JRC_FN const Group& __jrc_lanes(const Group& group, const void*) {
  return group;
}
template <class Group, unsigned int Size>
__JRC_FN __jrc_tile __jrc_lanes(const Group&, const __jrc_wide_tile<Size>*) {
  return {32};
}

// Then they combine what the warps have: here all of them, where `total` is the same in
// every lane.
template <class _T, class Operation>
__JRC_FN _T __jrc_over_warps(const void*, _T total, Operation&&) {
  return total;
}
template <unsigned int Size, class _T, class Operation>
__JRC_FN _T __jrc_over_warps(const __jrc_wide_tile<Size>* tile, _T total,
                             Operation&& operation) {
  const unsigned int first = tile->__jrc_first_warp();
  if (__jrc_lane() == 0) tile->template __jrc_slot<_T>(tile->__jrc_warp()) = total;
  tile->sync();
  total = tile->template __jrc_slot<_T>(first);
  for (unsigned int w = first + 1; w < first + (tile->__jrc_present() + 31) / 32; ++w)
    total = operation(total, tile->template __jrc_slot<_T>(w));
  tile->sync();
  return total;
}

// Here those before the own one, where the last lane has its warp's total.
template <class _T, class Operation>
__JRC_FN _T __jrc_after_warps(const void*, _T total, Operation&&) {
  return total;
}
template <unsigned int Size, class _T, class Operation>
__JRC_FN _T __jrc_after_warps(const __jrc_wide_tile<Size>* tile, _T total,
                              Operation&& operation) {
  const unsigned int warp = tile->__jrc_warp();
  if (__jrc_lane() == 31) tile->template __jrc_slot<_T>(warp) = total;
  tile->sync();
  for (unsigned int w = warp; w > tile->__jrc_first_warp(); --w)
    total = operation(tile->template __jrc_slot<_T>(w - 1), total);
  tile->sync();
  return total;
}

// The value of the thread before this one.
template <class Group, class _T>
__JRC_FN _T __jrc_previous(const Group& group, const void*, const _T& v) {
  return group.shfl_up(v, 1);
}
template <class Group, unsigned int Size, class _T>
__JRC_FN _T __jrc_previous(const Group&, const __jrc_wide_tile<Size>* tile,
                           const _T& v) {
  const unsigned int warp = tile->__jrc_warp();
  if (__jrc_lane() == 31) tile->template __jrc_slot<_T>(warp) = v;
  _T r = __jrc_tile{32}.shfl_up(v, 1);
  tile->sync();
  if (__jrc_lane() == 0 && warp > tile->__jrc_first_warp())
    r = tile->template __jrc_slot<_T>(warp - 1);
  tile->sync();
  return r;
}

}  // namespace cooperative_groups::__v1
