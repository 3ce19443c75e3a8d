// cooperative_groups/scan.h: prefix sums over the threads of a tile or coalesced group.
#pragma once
#include "../cooperative_groups.h"

namespace cooperative_groups {

template <class Group, class _T, class Operation>
__device__ inline _T inclusive_scan(const Group& group, const _T& value,
                                    Operation&& operation) {
  _T total = value;
  const auto lanes = __jrc_lanes(group, &group);
  unsigned int rank = lanes.thread_rank(), size = lanes.size();
  for (unsigned int step = 1; step < size; step *= 2) {
    _T other = lanes.shfl_up(total, step);
    if (rank >= step) total = operation(other, total);
  }
  return __jrc_after_warps(&group, total, operation);
}
template <class Group, class _T>
__device__ inline _T inclusive_scan(const Group& group, const _T& value) {
  return inclusive_scan(group, value, plus<_T>());
}
template <class Group, class _T, class Operation>
__device__ inline _T exclusive_scan(const Group& group, const _T& value,
                                    Operation&& operation) {
  _T total = inclusive_scan(group, value, operation);
  _T before = __jrc_previous(group, &group, total);
  return group.thread_rank() == 0 ? _T() : before;
}
template <class Group, class _T>
__device__ inline _T exclusive_scan(const Group& group, const _T& value) {
  return exclusive_scan(group, value, plus<_T>());
}

}  // namespace cooperative_groups
