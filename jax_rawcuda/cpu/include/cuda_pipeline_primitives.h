// cuda_pipeline_primitives.h: the C functions of asynchronous copies.
#pragma once

__device__ inline void __pipeline_memcpy_async(void* to, const void* from, size_t size,
                                               size_t zero_fill = 0) {
  unsigned int target = (unsigned int)__cvta_generic_to_shared(to);
  size_t origin = __cvta_generic_to_global(from);
  unsigned int used = (unsigned int)(size - zero_fill);
#define __JRC_COPY(CACHE, BYTES)                                             \
  asm volatile("cp.async." CACHE ".shared.global [%0], [%1], " BYTES ", %2;" \
               :                                                             \
               : "r"(target), "l"(origin), "r"(used)                         \
               : "memory")
  if (size == 4) __JRC_COPY("ca", "4");
  if (size == 8) __JRC_COPY("ca", "8");
  if (size == 16) __JRC_COPY("cg", "16");
#undef __JRC_COPY
}
__device__ inline void __pipeline_commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
// Waiting for more groups than asked is always right.
__device__ inline void __pipeline_wait_prior(size_t count) {
  if (count == 0)
    asm volatile("cp.async.wait_group 0;" ::: "memory");
  else
    asm volatile("cp.async.wait_group 1;" ::: "memory");
}
