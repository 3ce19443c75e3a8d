// cooperative_groups/memcpy_async.h: the copy is spread over the group and done at
// once.
#pragma once
#include "../cooperative_groups.h"

namespace cooperative_groups::__v1 {

template <class Group, class To, class From>
__device__ inline void memcpy_async(const Group& group, To* to, const From* from,
                                    size_t bytes) {
  char* target = (char*)to;
  const char* origin = (const char*)from;
  for (size_t i = group.thread_rank(); i < bytes; i += group.size())
    target[i] = origin[i];
}
// By elements: as many as there are on both sides.
template <class Group, class To, class From>
__device__ inline void memcpy_async(const Group& group, To* to, size_t to_count,
                                    const From* from, size_t from_count) {
  memcpy_async(group, to, from, sizeof(To) * min(to_count, from_count));
}
template <class Group>
__device__ inline void wait(const Group& group) {
  group.sync();
}
template <unsigned int Stages, class Group>
__device__ inline void wait_prior(const Group& group) {
  group.sync();
}

}  // namespace cooperative_groups::__v1
