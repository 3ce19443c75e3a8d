// cooperative_groups/scan.h: prefix sums over the threads of a tile or coalesced group.
#pragma once
#include "../cooperative_groups.h"

namespace cooperative_groups {

template <class Group, class T, class Operation>
__device__ inline T inclusive_scan(const Group& group, const T& value,
                                   Operation&& operation) {
  T total = value;
  unsigned int rank = group.thread_rank(), size = group.size();
  for (unsigned int step = 1; step < size; step *= 2) {
    T other = group.shfl_up(total, step);
    if (rank >= step) total = operation(other, total);
  }
  return total;
}
template <class Group, class T>
__device__ inline T inclusive_scan(const Group& group, const T& value) {
  return inclusive_scan(group, value, plus<T>());
}
template <class Group, class T, class Operation>
__device__ inline T exclusive_scan(const Group& group, const T& value,
                                   Operation&& operation) {
  T before = group.shfl_up(inclusive_scan(group, value, operation), 1);
  return group.thread_rank() == 0 ? T() : before;
}
template <class Group, class T>
__device__ inline T exclusive_scan(const Group& group, const T& value) {
  return exclusive_scan(group, value, plus<T>());
}

}  // namespace cooperative_groups
