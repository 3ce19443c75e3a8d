// cooperative_groups/scan.h: prefix sums over the threads of a tile or coalesced group.
#pragma once
#include "../cooperative_groups.h"
#include "reduce.h"

namespace cooperative_groups::__v1 {

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

// The group adds its total to an atomic object, and goes on from what that held.
template <class Group, class Atomic, class _T, class Operation>
__device__ inline _T __jrc_before(const Group& group, Atomic& atomic, const _T& value,
                                  Operation&& operation) {
  _T total = reduce(group, value, operation), old = _T();
  if (group.thread_rank() == 0) old = __jrc_update(atomic, total, operation);
  return group.shfl(old, 0);
}
template <class Group, class Atomic, class _T, class Operation>
__device__ inline _T inclusive_scan_update(const Group& group, Atomic& atomic,
                                           const _T& value, Operation&& operation) {
  _T scanned = inclusive_scan(group, value, operation);
  return operation(__jrc_before(group, atomic, value, operation), scanned);
}
template <class Group, class Atomic, class _T>
__device__ inline _T inclusive_scan_update(const Group& group, Atomic& atomic,
                                           const _T& value) {
  return inclusive_scan_update(group, atomic, value, plus<_T>());
}
template <class Group, class Atomic, class _T, class Operation>
__device__ inline _T exclusive_scan_update(const Group& group, Atomic& atomic,
                                           const _T& value, Operation&& operation) {
  _T scanned = exclusive_scan(group, value, operation);
  _T before = __jrc_before(group, atomic, value, operation);
  return group.thread_rank() == 0 ? before : operation(before, scanned);
}
template <class Group, class Atomic, class _T>
__device__ inline _T exclusive_scan_update(const Group& group, Atomic& atomic,
                                           const _T& value) {
  return exclusive_scan_update(group, atomic, value, plus<_T>());
}

}  // namespace cooperative_groups::__v1
