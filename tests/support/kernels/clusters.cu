// clusters.cu: blocks of a cluster that synchronise and use each other's shared memory.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// Every block reads the row of its neighbour in the cluster, which wraps around.
extern "C" __global__ void rotate(const int* x, int* y) {
  __shared__ int row[64];
  auto cluster = cg::this_cluster();
  row[threadIdx.x] = x[blockIdx.x * 64 + threadIdx.x];
  cluster.sync();
  unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
  const int* theirs = cluster.map_shared_rank(row, next);
  y[blockIdx.x * 64 + threadIdx.x] = theirs[threadIdx.x];
  cluster.sync();
}

// A histogram with its bins spread over the blocks of a cluster.
extern "C" __global__ void histogram(const int* x, int* bins, int n, int per_block) {
  extern __shared__ int mine[];
  auto cluster = cg::this_cluster();
  for (int i = threadIdx.x; i < per_block; i += blockDim.x) mine[i] = 0;
  cluster.sync();
  for (int i = cg::this_grid().thread_rank(); i < n; i += cg::this_grid().size()) {
    int* theirs = cluster.map_shared_rank(mine, x[i] / per_block);
    atomicAdd(theirs + x[i] % per_block, 1);
  }
  cluster.sync();
  int first = cluster.block_rank() * per_block;
  for (int i = threadIdx.x; i < per_block; i += blockDim.x)
    atomicAdd(&bins[first + i], mine[i]);
}

// What each block knows of its place.
extern "C" __global__ void places(int* place) {
  auto cluster = cg::this_cluster();
  unsigned id, count, explicit_launch;
  asm("mov.u32 %0, %%clusterid.x;" : "=r"(id));
  asm("mov.u32 %0, %%nclusterid.y;" : "=r"(count));
  asm("{\n\t.reg .pred p;\n\tmov.pred p, %%is_explicit_cluster;\n\t"
      "selp.u32 %0, 1, 0, p;\n\t}"
      : "=r"(explicit_launch));
  int* mine = place + 10 * (blockIdx.y * gridDim.x + blockIdx.x);
  if (threadIdx.x != 0) return;
  mine[0] = cluster.block_rank();
  mine[1] = cluster.num_blocks();
  mine[2] = cluster.block_index().x;
  mine[3] = cluster.block_index().y;
  mine[4] = cluster.dim_blocks().x;
  mine[5] = cluster.dim_blocks().y;
  mine[6] = id;
  mine[7] = count;
  mine[8] = explicit_launch;
  mine[9] = cluster.num_threads();
}

// The same of the grid, and of threads; and whose shared memory a pointer leads to.
extern "C" __global__ void indices(int* place) {
  __shared__ int own;
  auto cluster = cg::this_cluster();
  auto grid = cg::this_grid();
  int* mine = place + 10 * (blockIdx.y * gridDim.x + blockIdx.x);
  if (threadIdx.x == 5) {
    mine[0] = grid.cluster_rank();
    mine[1] = grid.num_clusters();
    mine[2] = grid.cluster_index().y;
    mine[3] = grid.dim_clusters().x;
    mine[4] = grid.thread_index().x;
    mine[5] = cluster.thread_index().x;
    mine[6] = cluster.thread_index().y;
    mine[7] = cluster.dim_threads().x;
    mine[8] = cluster.dim_threads().y;
    mine[9] = cluster.query_shared_rank(cluster.map_shared_rank(&own, 4)) * 10 +
              (cluster.query_shared_rank(&own) == cluster.block_rank());
  }
  cluster.sync();
}

// The size of the cluster is the kernel's own. Arrival and wait are apart, and in
// loops.
extern "C" __global__ void __cluster_dims__(2, 1, 1)
    pairs(const float* x, float* y, int rounds) {
  __shared__ float value[2][32];
  auto cluster = cg::this_cluster();
  unsigned other = cluster.block_rank() ^ 1, lane = threadIdx.x;
  float sum = x[blockIdx.x * 32 + lane];
  for (int i = 0; i < rounds; ++i) {
    value[i & 1][lane] = sum;
    auto token = cluster.barrier_arrive();
    float own = sum * 0.5f;
    cluster.barrier_wait(static_cast<decltype(token)&&>(token));
    sum = own + 0.25f * cluster.map_shared_rank(&value[i & 1][0], other)[31 - lane];
  }
  y[blockIdx.x * 32 + lane] = sum;
  cluster.sync();
}

// Addresses of the cluster's window, in PTX: what each block puts into its neighbours.
extern "C" __global__ void window(const int* x, int* y, int* rank) {
  __shared__ int received[8], found;
  auto cluster = cg::this_cluster();
  unsigned count = cluster.num_blocks(), mine = cluster.block_rank();
  if (threadIdx.x == 0) found = -1;
  cluster.sync();
  unsigned own = (unsigned)__cvta_generic_to_shared(&received[mine]), there, owner;
  if (threadIdx.x < count) {
    asm("mapa.shared::cluster.u32 %0, %1, %2;"
        : "=r"(there)
        : "r"(own), "r"(threadIdx.x));
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(there),
                 "r"(x[blockIdx.x * count + threadIdx.x])
                 : "memory");
    asm("getctarank.shared::cluster.u32 %0, %1;" : "=r"(owner) : "r"(there));
    if (threadIdx.x == count - 1) found = owner;
  }
  cluster.sync();
  if (threadIdx.x < count) y[blockIdx.x * count + threadIdx.x] = received[threadIdx.x];
  if (threadIdx.x == 0) rank[blockIdx.x] = found;
}

// Waits at an mbarrier of this block for what any block of the cluster sends there.
__device__ void wait_for_phase_0(unsigned bar) {
  unsigned done = 0;
  while (!done)
    asm volatile(
        "{\n\t.reg .pred p;\n\t"
        "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0;\n\t"
        "selp.u32 %0, 1, 0, p;\n\t}"
        : "=r"(done)
        : "r"(bar)
        : "memory");
}

// Block 0 of each cluster waits at its own mbarrier for values of all blocks.
extern "C" __global__ void collect(const int* x, int* sum) {
  __shared__ int values[8];
  __shared__ unsigned long long barrier;
  auto cluster = cg::this_cluster();
  unsigned count = cluster.num_blocks(), mine = cluster.block_rank();
  unsigned bar = (unsigned)__cvta_generic_to_shared(&barrier);
  unsigned slot = (unsigned)__cvta_generic_to_shared(&values[mine]);
  if (threadIdx.x == 0 && mine == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(count + 1));
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar),
                 "r"(4 * count)
                 : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  cluster.sync();
  if (threadIdx.x == 0) {
    unsigned there, their_bar;
    asm("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(there) : "r"(slot));
    asm("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(their_bar) : "r"(bar));
    asm volatile(
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, "
        "[%2];" ::"r"(there),
        "r"(x[blockIdx.x]), "r"(their_bar)
        : "memory");
    asm volatile(
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(their_bar)
        : "memory");
  }
  if (mine == 0) {
    wait_for_phase_0(bar);
    int total = 0;
    for (int i = 0; i < count; ++i) total += values[i];
    if (threadIdx.x == 0) sum[blockIdx.x / count] = total;
  }
  cluster.sync();
}

// All threads of a cluster add to one number in its first block, and raise another.
extern "C" __global__ void reduce_remotely(const int* x, int* sum, int* most) {
  __shared__ int totals[2];
  __shared__ unsigned long long barrier;
  auto cluster = cg::this_cluster();
  unsigned bar = (unsigned)__cvta_generic_to_shared(&barrier), their_bar, there;
  if (threadIdx.x == 0 && cluster.block_rank() == 0) {
    totals[0] = 0;
    totals[1] = -1000000;
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar));
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar),
                 "r"(8 * cluster.num_threads())
                 : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  cluster.sync();
  asm("mapa.shared::cluster.u32 %0, %1, 0;"
      : "=r"(there)
      : "r"((unsigned)__cvta_generic_to_shared(totals)));
  asm("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(their_bar) : "r"(bar));
  int value = x[blockIdx.x * blockDim.x + threadIdx.x];
  asm volatile(
      "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.s32 "
      "[%0], %1, [%2];" ::"r"(there),
      "r"(value), "r"(their_bar)
      : "memory");
  asm volatile(
      "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.max.s32 "
      "[%0 + 4], %1, [%2];" ::"r"(there),
      "r"(value), "r"(their_bar)
      : "memory");
  if (cluster.block_rank() == 0) {
    wait_for_phase_0(bar);
    if (threadIdx.x == 0) sum[blockIdx.x / cluster.num_blocks()] = totals[0];
    if (threadIdx.x == 0) most[blockIdx.x / cluster.num_blocks()] = totals[1];
  }
  cluster.sync();
}

// One copy from global memory reaches every block of the cluster.
extern "C" __global__ void multicast(const float* x, float* y) {
  __shared__ alignas(128) float row[64];
  __shared__ unsigned long long barrier;
  auto cluster = cg::this_cluster();
  unsigned count = cluster.num_blocks();
  unsigned bar = (unsigned)__cvta_generic_to_shared(&barrier);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar));
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 256;" ::"r"(bar)
                 : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  cluster.sync();
  if (threadIdx.x == 0 && cluster.block_rank() == count - 1)
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
        ".multicast::cluster [%0], [%1], 256, [%2], %3;" ::"r"(
            (unsigned)__cvta_generic_to_shared(row)),
        "l"(x + blockIdx.x / count * 64), "r"(bar), "h"((short)((1 << count) - 1))
        : "memory");
  wait_for_phase_0(bar);
  y[blockIdx.x * 64 + threadIdx.x] = row[threadIdx.x] + cluster.block_rank();
  cluster.sync();
}
