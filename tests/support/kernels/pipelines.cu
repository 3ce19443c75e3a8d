// pipelines.cu: asynchronous copies, mbarriers, and the classes of libcu++ on top.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;

// Tiles of 64 float4 in two buffers: the next one comes while this one is used.
extern "C" __global__ void primitives(const float4* x, float* y, int tiles) {
  __shared__ float4 buffer[2][64];
  int t = threadIdx.x;
  __pipeline_memcpy_async(&buffer[0][t], &x[t], sizeof(float4));
  __pipeline_commit();
  float sum = 0;
  for (int i = 0; i < tiles; ++i) {
    if (i + 1 < tiles)
      __pipeline_memcpy_async(&buffer[(i + 1) & 1][t], &x[(i + 1) * 64 + t], 16);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    float4 v = buffer[i & 1][63 - t];
    sum += v.x + v.y + v.z + v.w;
    __syncthreads();
  }
  y[t] = sum;
}

// The bytes beyond the end come as zeros; sizes 4, 8 and 16.
extern "C" __global__ void zero_fill(const float* x, float4* y, int n) {
  __shared__ float4 row[32];
  int i = blockIdx.x * 32 + threadIdx.x, valid = min(max(n - 4 * i, 0), 4) * 4;
  unsigned to = (unsigned)__cvta_generic_to_shared(&row[threadIdx.x]);
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(to),
               "l"(x + (valid ? 4 * i : 0)), "r"(valid)  // aligned to 16 bytes
               : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  float4 v = row[31 - threadIdx.x];
  __syncthreads();
  int j = blockIdx.x * 32 + 31 - threadIdx.x;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(x)
               : "memory");
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(to + 8), "l"(x + 2)
               : "memory");
  asm volatile("cp.async.commit_group;\n\tcp.async.wait_group 0;" ::: "memory");
  y[j] = make_float4(v.x, v.y, v.z + row[threadIdx.x].x, v.w + row[threadIdx.x].w);
}

// cuda::pipeline of a block, filled by cuda::memcpy_async.
extern "C" __global__ void pipeline(const int* x, int* y, int tiles) {
  constexpr int kStages = 2;
  __shared__ int buffer[kStages][64];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  int sum = 0, fetched = 0;
  for (int i = 0; i < tiles; ++i) {
    for (; fetched < tiles && fetched < i + kStages; ++fetched) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, buffer[fetched % kStages], x + fetched * 64,
                         cuda::aligned_size_t<16>(64 * sizeof(int)), pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    sum += buffer[i % kStages][63 - threadIdx.x] * (i + 1);
    pipe.consumer_release();
  }
  y[threadIdx.x] = sum;
}

// cuda::barrier: arrive, wait, a completion of copies, a parity.
extern "C" __global__ void barrier(const int* x, int* y, int rounds) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  __shared__ int row[64];
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  int sum = 0;
  for (int i = 0; i < rounds; ++i) {
    cuda::memcpy_async(row + threadIdx.x, x + i * 64 + threadIdx.x, sizeof(int), bar);
    auto token = bar.arrive();
    int scale = i + 1;
    bar.wait(cuda::std::move(token));
    sum += row[63 - threadIdx.x] * scale;
    bar.arrive_and_wait();
  }
  y[threadIdx.x] = sum;
}

// cp.async.bulk both ways, ordered by an mbarrier.
extern "C" __global__ void bulk(const float* x, float* y, int rows) {
  __shared__ alignas(128) float in[256], out[256];
  __shared__ unsigned long long bar;
  unsigned address = (unsigned)__cvta_generic_to_shared(&bar);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address));
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  for (int row = 0; row < rows; ++row) {
    if (threadIdx.x == 0) {
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 1024;" ::"r"(
                       address)
                   : "memory");
      asm volatile(
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], "
          "1024, [%2];" ::"r"((unsigned)__cvta_generic_to_shared(in)),
          "l"(x + row * 256), "r"(address)
          : "memory");
    }
    unsigned done = 0;
    while (!done)
      asm volatile(
          "{\n\t.reg .pred p;\n\t"
          "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
          "selp.u32 %0, 1, 0, p;\n\t}"
          : "=r"(done)
          : "r"(address), "r"(row & 1)
          : "memory");
    out[threadIdx.x] = in[255 - threadIdx.x] + row;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 1024;" ::"l"(
                       y + row * 256),
                   "r"((unsigned)__cvta_generic_to_shared(out))
                   : "memory");
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
      asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
    __syncthreads();
  }
}

// Atomic references in several scopes and orders; a message from block to block.
extern "C" __global__ void atomics(const int* x, int* sum, int* most, unsigned* turns,
                                   double* total, int* last, int* flag) {
  using cuda::std::memory_order_acquire;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  cuda::atomic_ref<int, cuda::thread_scope_device>(*sum).fetch_add(
      x[i], cuda::std::memory_order_relaxed);
  cuda::atomic_ref<int, cuda::thread_scope_system>(*most).fetch_max(x[i]);
  cuda::atomic_ref<double, cuda::thread_scope_device> real(*total);
  real.fetch_add(x[i] * 0.5, cuda::std::memory_order_acq_rel);
  cuda::atomic_ref<unsigned, cuda::thread_scope_device> turn(*turns);
  unsigned seen = turn.load(memory_order_acquire);
  while (!turn.compare_exchange_weak(seen, seen + 2, cuda::std::memory_order_acq_rel)) {
  }
  if (threadIdx.x != 0) return;
  cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
  if (blockIdx.x == 0) {
    cuda::atomic_ref<int, cuda::thread_scope_device> message(*last);
    message.store(4711, cuda::std::memory_order_relaxed);
    cuda::atomic_thread_fence(cuda::std::memory_order_release,
                              cuda::thread_scope_device);
    ready.store(1, cuda::std::memory_order_release);
  } else {
    while (ready.load(memory_order_acquire) == 0) {
    }
    if (*last != 4711) atomicAdd(flag, 1000);
  }
}
