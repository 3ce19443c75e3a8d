// cooperative_groups/reduce.h: reduction over the threads of a tile or coalesced group.
#pragma once
#include "../cooperative_groups.h"

namespace cooperative_groups {

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

}  // namespace cooperative_groups
