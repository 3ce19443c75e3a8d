// block.h: thread_block and what all groups share.
#pragma once
#pragma clang system_header
#include "jrc/device/builtin_variables.h"
#include "jrc/device/qualifiers.h"
#include "jrc/device/sync.h"

// As <cuda/barrier> and <cuda/pipeline> declare the groups.
namespace cooperative_groups {
namespace __v1 {}
using namespace __v1;
}  // namespace cooperative_groups

namespace cooperative_groups::__v1 {

__JRC_FN unsigned int __jrc_block_rank() {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
__JRC_FN unsigned int __jrc_block_size() {
  return blockDim.x * blockDim.y * blockDim.z;
}
__JRC_FN unsigned int __jrc_lane() {
  unsigned int r;
  asm("mov.u32 %0, %%laneid;" : "=r"(r));
  return r;
}
__JRC_FN unsigned int __jrc_lanes_below() {
  unsigned int r;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(r));
  return r;
}

struct thread_block {
  struct arrival_token {};
  __JRC_FN static void sync() { __syncthreads(); }
  __JRC_FN static arrival_token barrier_arrive() { return {}; }
  __JRC_FN static void barrier_wait(arrival_token) { __syncthreads(); }
  __JRC_FN static unsigned int thread_rank() { return __jrc_block_rank(); }
  __JRC_FN static unsigned int size() { return __jrc_block_size(); }
  __JRC_FN static unsigned int num_threads() { return size(); }
  __JRC_FN static dim3 group_index() { return blockIdx; }
  __JRC_FN static dim3 thread_index() { return threadIdx; }
  __JRC_FN static dim3 group_dim() { return blockDim; }
  __JRC_FN static dim3 dim_threads() { return blockDim; }
};
__JRC_FN thread_block this_thread_block() { return {}; }

template <class Group>
__JRC_FN void sync(const Group& group) {
  group.sync();
}
template <class Group>
__JRC_FN unsigned int thread_rank(const Group& group) {
  return group.thread_rank();
}
template <class Group>
__JRC_FN unsigned int group_size(const Group& group) {
  return group.size();
}
template <class Group, class Function, class... Arguments>
__JRC_FN void invoke_one(const Group& group, Function&& function,
                         Arguments&&... arguments) {
  if (group.thread_rank() == 0) function(static_cast<Arguments&&>(arguments)...);
}

// Operators of reduce and the scans.
#define __JRC_OPERATION(NAME, EXPRESSION)                           \
  template <class _T = void>                                        \
  struct NAME {                                                     \
    __JRC_FN _T operator()(_T a, _T b) const { return EXPRESSION; } \
  };
__JRC_OPERATION(plus, a + b)
__JRC_OPERATION(less, b < a ? b : a)
__JRC_OPERATION(greater, a < b ? b : a)
__JRC_OPERATION(bit_and, a& b)
__JRC_OPERATION(bit_or, a | b)
__JRC_OPERATION(bit_xor, a ^ b)
#undef __JRC_OPERATION

}  // namespace cooperative_groups::__v1
