// atomics.cu: kernels that mix atomic and plain accesses, or order too few threads, and
// beside each one that is right.
#include <cuda/atomic>

// Thread 0 may come after the others.
// CALL: below(9, 64) | 64 -> 1 | grid=1, block=64
// SAYS: shared memory 'total'; data race; not ordered
extern "C" __global__ void late_zero(const int* x, int* y) {
  __shared__ int total;
  int t = threadIdx.x;
  if (t == 0) total = 0;    // BUG late_zero
  atomicAdd(&total, x[t]);  // BUG late_zero
  __syncthreads();
  if (t == 0) y[0] = total;
}
extern "C" __global__ void late_zero_fixed(const int* x, int* y) {
  __shared__ int total;
  int t = threadIdx.x;
  if (t == 0) total = 0;
  __syncthreads();
  atomicAdd(&total, x[t]);
  __syncthreads();
  if (t == 0) y[0] = total;
}

// The first look at the best value is not atomic.
// CALL: below(99, 256), zeros(1) | n, 1 | block=64, in_out="best"
// SAYS: argument 'best'; data race; not ordered
extern "C" __global__ void peeked_maximum(const int* x, int* best, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (*best < x[i] &&  // BUG peeked_maximum
      *(volatile int*)best < x[i]) {
    atomicMax(best, x[i]);  // BUG peeked_maximum
  }
}
extern "C" __global__ void peeked_maximum_fixed(const int* x, int* best, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (*(volatile int*)best < x[i]) atomicMax(best, x[i]);
}

// A fence for the block, where other blocks read.
// CALL: f32(8), zeros(8, "f4"), zeros(1, "u4") | 8, 8, 1 -> 1 | grid=8, block=32,
//   in_out=("partial", "done")
// SAYS: argument 'partial'; data race; not ordered; block (7,0,0)
extern "C" __global__ void block_fence(const float* x, float* partial, unsigned* done,
                                       float* y) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = x[blockIdx.x];  // BUG block_fence
    __threadfence_block();
    last = atomicAdd(done, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    float sum = 0.0f;
    for (int b = 0; b < gridDim.x; b++) sum += partial[b];  // BUG block_fence
    *y = sum;
  }
}
extern "C" __global__ void block_fence_fixed(const float* x, float* partial,
                                             unsigned* done, float* y) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = x[blockIdx.x];
    __threadfence();
    last = atomicAdd(done, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    float sum = 0.0f;
    for (int b = 0; b < gridDim.x; b++) sum += partial[b];
    *y = sum;
  }
}

// Atomic within each block only.
// CALL: below(9, 128), zeros(1) | n, 1 | block=64, in_out="total"
// SAYS: argument 'total'; data race; not ordered; block (1,0,0)
extern "C" __global__ void block_counter(const int* x, int* total, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd_block(total, x[i]);  // BUG block_counter
}
extern "C" __global__ void block_counter_fixed(const int* x, int* total, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(total, x[i]);
}

template <cuda::thread_scope scope>
__device__ void count(const int* x, int* total, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) cuda::atomic_ref<int, scope>(*total).fetch_add(x[i]);
}
// SAYS: argument 'total'; data race; not ordered; block (1,0,0)
extern "C" __global__ void scoped_ref(const int* x, int* total, int n) {
  count<cuda::thread_scope_block>(x, total, n);
}
extern "C" __global__ void scoped_ref_fixed(const int* x, int* total, int n) {
  count<cuda::thread_scope_device>(x, total, n);
}

// A flag says that the value is there, but nothing orders the two.
// CALL: below(9, 64) | 64 -> 1 | grid=1, block=64
// SAYS: shared memory 'value'; data race; not ordered
extern "C" __global__ void flag(const int* x, int* y) {
  __shared__ int value, ready;
  int t = threadIdx.x;
  if (t == 0) ready = 0;
  __syncthreads();
  if (t == 0) {
    value = x[0];  // BUG flag
    atomicExch(&ready, 1);
  } else if (t == 32) {
    while (atomicAdd(&ready, 0) == 0) {
    }
    y[0] = value;  // BUG flag
  }
}
extern "C" __global__ void flag_fixed(const int* x, int* y) {
  __shared__ int value, ready;
  int t = threadIdx.x;
  if (t == 0) ready = 0;
  __syncthreads();
  if (t == 0) {
    value = x[0];
    __threadfence_block();
    atomicExch(&ready, 1);
  } else if (t == 32) {
    while (atomicAdd(&ready, 0) == 0) {
    }
    __threadfence_block();
    y[0] = value;
  }
}

// Plain writes beside 16-bit atomic ones, and on them.
// CALL: 1 + below(9, 32), zeros(32, "u2") | 32, 32 | grid=1, block=32, in_out="y"
// SAYS: argument 'y' (uint16[32]); data race; not ordered
extern "C" __global__ void short_neighbours(const int* x, unsigned short* y) {
  int t = threadIdx.x;
  if (t % 2 == 0) {
    atomicCAS(&y[t], (unsigned short)0, (unsigned short)x[t]);  // BUG short_neighbours
  } else {
    y[t ^ 1] = x[t];  // BUG short_neighbours
  }
}
extern "C" __global__ void short_neighbours_fixed(const int* x, unsigned short* y) {
  int t = threadIdx.x;
  if (t % 2 == 0) {
    atomicCAS(&y[t], (unsigned short)0, (unsigned short)x[t]);
  } else {
    y[t] = x[t];
  }
}
