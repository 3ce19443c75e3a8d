// cooperative_groups/reduce.h: reduction over the threads of a tile or coalesced group.
#pragma once
#include "../cooperative_groups.h"

namespace cooperative_groups {

template <class Group, class _T, class Operation>
__device__ inline auto reduce(const Group& group, const _T& value,
                              Operation&& operation)
    -> decltype(operation(value, value)) {
  decltype(operation(value, value)) total = value;
  unsigned int rank = group.thread_rank(), size = group.size();
  for (unsigned int step = 1; step < size; step *= 2) {
    auto other = group.shfl_down(total, step);
    if (rank + step < size) total = operation(total, other);
  }
  return group.shfl(total, 0);
}

}  // namespace cooperative_groups
