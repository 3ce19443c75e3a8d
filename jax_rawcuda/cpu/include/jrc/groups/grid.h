// grid.h: grid_group and cluster_group.
#pragma once
#pragma clang system_header
#include "jrc/device/atomics.h"
#include "jrc/groups/block.h"

namespace cooperative_groups::__v1 {

#define __JRC_CLUSTER_REGISTER(NAME, REGISTER)             \
  __JRC_FN static unsigned int NAME() {                    \
    unsigned int r;                                        \
    asm volatile("mov.u32 %0, %%" REGISTER ";" : "=r"(r)); \
    return r;                                              \
  }
struct grid_group {
  struct arrival_token {};
  // A cooperative launch hands out zeroed memory for one counter.
  __JRC_FN static unsigned int* __jrc_counter() {
    unsigned int high, low;
    asm("mov.b32 %0, %%envreg1;" : "=r"(high));
    asm("mov.b32 %0, %%envreg2;" : "=r"(low));
    return (unsigned int*)((unsigned long long)high << 32 | low);
  }
  __JRC_FN static bool is_valid() { return __jrc_counter() != nullptr; }
  // The blocks of a round flip the counter's top bit together: block 0 adds what the
  // others leave missing to 2^31.
  static __device__ inline void sync() {
    unsigned int* counter = __jrc_counter();
    if (counter == nullptr) __trap();
    __syncthreads();
    if (__jrc_block_rank() == 0) {
      __threadfence();
      unsigned int mine = block_rank() == 0 ? 0x80000000u - (num_blocks() - 1) : 1u;
      unsigned int old = atomicAdd(counter, mine);
      while (((old ^ *(volatile unsigned int*)counter) & 0x80000000u) == 0) {
      }
      __threadfence();
    }
    __syncthreads();
  }
  __JRC_FN static arrival_token barrier_arrive() { return {}; }
  static __device__ inline void barrier_wait(arrival_token) { sync(); }
  __JRC_FN static unsigned long long thread_rank() {
    return block_rank() * __jrc_block_size() + __jrc_block_rank();
  }
  __JRC_FN static unsigned long long block_rank() {
    return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x +
           blockIdx.x;
  }
  __JRC_FN static unsigned long long num_blocks() {
    return (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
  }
  __JRC_FN static unsigned long long num_threads() {
    return num_blocks() * __jrc_block_size();
  }
  __JRC_FN static unsigned long long size() { return num_threads(); }
  __JRC_FN static dim3 group_dim() { return gridDim; }
  __JRC_FN static dim3 dim_blocks() { return gridDim; }
  __JRC_FN static dim3 block_index() { return blockIdx; }
  __JRC_FN static dim3 thread_index() {
    return dim3(blockIdx.x * blockDim.x + threadIdx.x,
                blockIdx.y * blockDim.y + threadIdx.y,
                blockIdx.z * blockDim.z + threadIdx.z);
  }
  __JRC_CLUSTER_REGISTER(__jrc_cluster_x, "clusterid.x")
  __JRC_CLUSTER_REGISTER(__jrc_cluster_y, "clusterid.y")
  __JRC_CLUSTER_REGISTER(__jrc_cluster_z, "clusterid.z")
  __JRC_CLUSTER_REGISTER(__jrc_clusters_x, "nclusterid.x")
  __JRC_CLUSTER_REGISTER(__jrc_clusters_y, "nclusterid.y")
  __JRC_CLUSTER_REGISTER(__jrc_clusters_z, "nclusterid.z")
  __JRC_FN static dim3 cluster_index() {
    return dim3(__jrc_cluster_x(), __jrc_cluster_y(), __jrc_cluster_z());
  }
  __JRC_FN static dim3 dim_clusters() {
    return dim3(__jrc_clusters_x(), __jrc_clusters_y(), __jrc_clusters_z());
  }
  __JRC_FN static unsigned long long cluster_rank() {
    dim3 at = cluster_index(), n = dim_clusters();
    return ((unsigned long long)at.z * n.y + at.y) * n.x + at.x;
  }
  __JRC_FN static unsigned long long num_clusters() {
    dim3 n = dim_clusters();
    return (unsigned long long)n.x * n.y * n.z;
  }
};
__JRC_FN grid_group this_grid() { return {}; }

struct cluster_group {
  struct arrival_token {};
  __JRC_FN static void sync() {
    asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
  }
  __JRC_FN static arrival_token barrier_arrive() {
    asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
    return {};
  }
  __JRC_FN static void barrier_wait() {
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
  }
  __JRC_FN static void barrier_wait(arrival_token) { barrier_wait(); }
  __JRC_CLUSTER_REGISTER(block_rank, "cluster_ctarank")
  __JRC_CLUSTER_REGISTER(num_blocks, "cluster_nctarank")
  __JRC_CLUSTER_REGISTER(__jrc_index_x, "cluster_ctaid.x")
  __JRC_CLUSTER_REGISTER(__jrc_index_y, "cluster_ctaid.y")
  __JRC_CLUSTER_REGISTER(__jrc_index_z, "cluster_ctaid.z")
  __JRC_CLUSTER_REGISTER(__jrc_dim_x, "cluster_nctaid.x")
  __JRC_CLUSTER_REGISTER(__jrc_dim_y, "cluster_nctaid.y")
  __JRC_CLUSTER_REGISTER(__jrc_dim_z, "cluster_nctaid.z")
  __JRC_FN static dim3 block_index() {
    return dim3(__jrc_index_x(), __jrc_index_y(), __jrc_index_z());
  }
  __JRC_FN static dim3 dim_blocks() {
    return dim3(__jrc_dim_x(), __jrc_dim_y(), __jrc_dim_z());
  }
  __JRC_FN static dim3 thread_index() {
    dim3 at = block_index();
    return dim3(at.x * blockDim.x + threadIdx.x, at.y * blockDim.y + threadIdx.y,
                at.z * blockDim.z + threadIdx.z);
  }
  __JRC_FN static dim3 dim_threads() {
    dim3 n = dim_blocks();
    return dim3(n.x * blockDim.x, n.y * blockDim.y, n.z * blockDim.z);
  }
  __JRC_FN static unsigned int num_threads() {
    return num_blocks() * __jrc_block_size();
  }
  __JRC_FN static unsigned int size() { return num_threads(); }
  __JRC_FN static unsigned int thread_rank() {
    return block_rank() * __jrc_block_size() + __jrc_block_rank();
  }
  template <class _T>
  __JRC_FN static _T* map_shared_rank(_T* pointer, int rank) {
    unsigned long long r;
    asm volatile("mapa.u64 %0, %1, %2;" : "=l"(r) : "l"(pointer), "r"(rank));
    return (_T*)r;
  }
  __JRC_FN static unsigned int query_shared_rank(const void* pointer) {
    unsigned int r;
    asm("getctarank.u64 %0, %1;" : "=r"(r) : "l"(pointer));
    return r;
  }
};
#undef __JRC_CLUSTER_REGISTER
__JRC_FN cluster_group this_cluster() { return {}; }

}  // namespace cooperative_groups::__v1
