// cooperative_groups/reduce.h: reduction over the threads of a tile or coalesced group.
#pragma once
#include "../cooperative_groups.h"

namespace cooperative_groups::__v1 {

template <class Group, class _T, class Operation>
__device__ inline auto reduce(const Group& group, const _T& value,
                              Operation&& operation)
    -> decltype(operation(value, value)) {
  decltype(operation(value, value)) total = value;
  const auto lanes = __jrc_lanes(group, &group);
  unsigned int rank = lanes.thread_rank(), size = lanes.size();
  for (unsigned int step = 1; step < size; step *= 2) {
    auto other = lanes.shfl_down(total, step);
    if (rank + step < size) total = operation(total, other);
  }
  return __jrc_over_warps(&group, lanes.shfl(total, 0), operation);
}

// Replaces what an atomic object holds; returns what it held.
template <class Atomic, class _T, class Operation>
__device__ inline _T __jrc_update(Atomic& atomic, const _T& value,
                                  Operation&& operation) {
  auto old = atomic.load();
  while (!atomic.compare_exchange_weak(old, operation(old, value))) {
  }
  return old;
}
template <class Group, class Atomic, class _T, class Operation>
__device__ inline void reduce_update_async(const Group& group, Atomic& atomic,
                                           const _T& value, Operation&& operation) {
  _T total = reduce(group, value, operation);
  if (group.thread_rank() == 0) __jrc_update(atomic, total, operation);
}
template <class Group, class Atomic, class _T, class Operation>
__device__ inline void reduce_store_async(const Group& group, Atomic& atomic,
                                          const _T& value, Operation&& operation) {
  _T total = reduce(group, value, operation);
  if (group.thread_rank() == 0) atomic.store(total);
}

}  // namespace cooperative_groups::__v1
