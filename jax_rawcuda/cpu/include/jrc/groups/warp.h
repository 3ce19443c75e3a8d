// warp.h: groups inside one warp: lanes of a tile, coalesced threads,
// partitions.
#pragma once
#pragma clang system_header
#include "jrc/device/warp.h"
#include "jrc/groups/block.h"
#include "jrc/math/integer.h"
#include "jrc/math/overloads.h"

namespace cooperative_groups::__v1 {

// A value of any size travels as 32-bit words.
template <class _T, class Shuffle>
__JRC_FN _T __jrc_by_words(_T value, Shuffle shuffle) {
  const int count = (sizeof(_T) + 3) / 4;
  unsigned int words[count] = {};
  __builtin_memcpy(words, &value, sizeof(_T));
  for (int i = 0; i < count; ++i) words[i] = shuffle(words[i]);
  __builtin_memcpy(&value, words, sizeof(_T));
  return value;
}

// Members of a tile have consecutive lanes, so the shuffles' own segments serve.
struct __jrc_tile {
  unsigned int __jrc_width;

  __JRC_FN unsigned int __jrc_first() const {
    return __jrc_lane() & ~(__jrc_width - 1);
  }
  __JRC_FN unsigned int __jrc_mask() const {
    return __jrc_width == 32 ? ~0u : ((1u << __jrc_width) - 1) << __jrc_first();
  }
  __JRC_FN void sync() const { __syncwarp(__jrc_mask()); }
  __JRC_FN unsigned int thread_rank() const { return __jrc_lane() & (__jrc_width - 1); }
  __JRC_FN unsigned int size() const { return __jrc_width; }
  __JRC_FN unsigned int num_threads() const { return __jrc_width; }

#define __JRC_TILE_SHUFFLE(NAME, FUNCTION)                                  \
  template <class _T>                                                       \
  __JRC_FN _T NAME(_T v, int lane) const {                                  \
    unsigned int mask = __jrc_mask(), width = __jrc_width;                  \
    return __jrc_by_words(v, [=](unsigned int w) __attribute__((nodebug)) { \
      return FUNCTION(mask, w, lane, (int)width);                           \
    });                                                                     \
  }
  __JRC_TILE_SHUFFLE(shfl, __shfl_sync)
  __JRC_TILE_SHUFFLE(shfl_xor, __shfl_xor_sync)
  __JRC_TILE_SHUFFLE(shfl_up, __shfl_up_sync)
  __JRC_TILE_SHUFFLE(shfl_down, __shfl_down_sync)
#undef __JRC_TILE_SHUFFLE
  __JRC_FN int any(int predicate) const { return __any_sync(__jrc_mask(), predicate); }
  __JRC_FN int all(int predicate) const { return __all_sync(__jrc_mask(), predicate); }
  __JRC_FN unsigned int ballot(int predicate) const {
    return (__ballot_sync(__jrc_mask(), predicate) & __jrc_mask()) >> __jrc_first();
  }
  template <class _T>
  __JRC_FN unsigned int match_any(_T v) const {
    return __match_any_sync(__jrc_mask(), v) >> __jrc_first();
  }
  template <class _T>
  __JRC_FN unsigned int match_all(_T v, int& predicate) const {
    return __match_all_sync(__jrc_mask(), v, &predicate) >> __jrc_first();
  }
};

// Any set of lanes; ranks count its members from the lowest lane.
struct coalesced_group {
  unsigned int __jrc_members;
  unsigned int __jrc_meta_rank = 0, __jrc_meta_size = 1;

  __JRC_FN unsigned int __jrc_mask() const { return __jrc_members; }
  __JRC_FN unsigned int __jrc_lane_of(unsigned int rank) const {
    unsigned int rest = __jrc_members;
    for (unsigned int i = 0; i < rank; ++i) rest &= rest - 1;
    return __ffs(rest) - 1;
  }
  __JRC_FN unsigned int __jrc_pack(unsigned int lanes) const {
    unsigned int r = 0, rank = 0;
    for (unsigned int m = __jrc_members; m; m &= m - 1, ++rank)
      if (lanes & m & -m) r |= 1u << rank;
    return r;
  }
  __JRC_FN void sync() const { __syncwarp(__jrc_members); }
  __JRC_FN unsigned int thread_rank() const {
    return __popc(__jrc_members & __jrc_lanes_below());
  }
  __JRC_FN unsigned int size() const { return __popc(__jrc_members); }
  __JRC_FN unsigned int num_threads() const { return size(); }
  __JRC_FN unsigned int meta_group_rank() const { return __jrc_meta_rank; }
  __JRC_FN unsigned int meta_group_size() const { return __jrc_meta_size; }

  template <class _T>
  __JRC_FN _T shfl(_T v, unsigned int rank) const {
    unsigned int mask = __jrc_members, lane = __jrc_lane_of(rank % size());
    return __jrc_by_words(v, [=](unsigned int w) __attribute__((nodebug)) {
      return __shfl_sync(mask, w, (int)lane);
    });
  }
  template <class _T>
  __JRC_FN _T shfl_up(_T v, unsigned int delta) const {
    unsigned int rank = thread_rank();
    return shfl(v, rank >= delta ? rank - delta : rank);
  }
  template <class _T>
  __JRC_FN _T shfl_down(_T v, unsigned int delta) const {
    unsigned int rank = thread_rank();
    return shfl(v, rank + delta < size() ? rank + delta : rank);
  }
  __JRC_FN int any(int predicate) const { return __any_sync(__jrc_members, predicate); }
  __JRC_FN int all(int predicate) const { return __all_sync(__jrc_members, predicate); }
  __JRC_FN unsigned int ballot(int predicate) const {
    return __jrc_pack(__ballot_sync(__jrc_members, predicate));
  }
  template <class _T>
  __JRC_FN unsigned int match_any(_T v) const {
    return __jrc_pack(__match_any_sync(__jrc_members, v));
  }
  template <class _T>
  __JRC_FN unsigned int match_all(_T v, int& predicate) const {
    return __jrc_pack(__match_all_sync(__jrc_members, v, &predicate));
  }
};
__JRC_FN coalesced_group coalesced_threads() { return {__activemask()}; }

// Any of the groups of a block, when its kind is known at run time only.
class thread_group {
 public:
  thread_group(const thread_group&) = default;
  thread_group& operator=(const thread_group&) = delete;
  __JRC_FN thread_group(const thread_block&) : __jrc_size(__jrc_block_size()) {}
  __JRC_FN thread_group(const coalesced_group& group)
      : __jrc_size(group.size()), __jrc_lanes(group.__jrc_members) {}
  __JRC_FN thread_group(const __jrc_tile& tile)
      : __jrc_size(tile.size()), __jrc_lanes(tile.__jrc_mask()) {}

  __JRC_FN void sync() const {
    if (__jrc_lanes == 0)
      __syncthreads();
    else
      __syncwarp(__jrc_lanes);
  }
  // There is no num_threads(): CUDA declares it, and does not define it.
  __JRC_FN unsigned int size() const { return __jrc_size; }
  __JRC_FN unsigned int thread_rank() const {
    return __jrc_lanes == 0 ? __jrc_block_rank()
                            : __popc(__jrc_lanes & __jrc_lanes_below());
  }

 private:
  unsigned int __jrc_size;
  unsigned int __jrc_lanes = 0;  // of the warp; 0: the whole block
};

template <class Parent>
__JRC_FN thread_group tiled_partition(const Parent&, unsigned int size) {
  if (size == 0 || size > 32 || (size & (size - 1)) != 0) __trap();
  return __jrc_tile{size};
}
__JRC_FN coalesced_group tiled_partition(const coalesced_group& group,
                                         unsigned int size) {
  unsigned int rank = group.thread_rank() / size, members = 0;
  for (unsigned int i = rank * size; i < min((rank + 1) * size, group.size()); ++i)
    members |= 1u << group.__jrc_lane_of(i);
  return {members, rank, (group.size() + size - 1) / size};
}
// The parts are numbered by their lowest lanes.
template <class Group, class Label>
__JRC_FN coalesced_group labeled_partition(const Group& group, Label label) {
  unsigned int all = group.__jrc_mask(), members = __match_any_sync(all, label);
  unsigned int first = members & -members, lane = 1u << __jrc_lane();
  unsigned int firsts = __ballot_sync(all, lane == first);
  return {members, (unsigned int)__popc(firsts & (first - 1)),
          (unsigned int)__popc(firsts)};
}
template <class Group>
__JRC_FN coalesced_group binary_partition(const Group& group, bool label) {
  unsigned int all = group.__jrc_mask(), yes = __ballot_sync(all, label);
  if (yes == 0 || yes == all) return {all, 0, 1};
  return {label ? yes : all & ~yes, label, 2};
}

}  // namespace cooperative_groups::__v1
