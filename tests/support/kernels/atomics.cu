// atomics.cu: atomic functions, locks, and blocks that wait for each other.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

// Sums of small whole numbers, exact in every type.
extern "C" __global__ void sums(const int* x, __half* h, __nv_bfloat16* b, __half2* h2,
                                __nv_bfloat162* b2, float2* f2, float4* f4, double* d) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, v = x[i];
  atomicAdd(h, __float2half(v));
  atomicAdd(b, __float2bfloat16(v));
  atomicAdd(h2, __floats2half2_rn(v, 1));
  atomicAdd(b2, __floats2bfloat162_rn(v, -v));
  atomicAdd(f2, make_float2(v, 1));
  atomicAdd(f4, make_float4(v, 1, 2, -v));
  __shared__ double of_block;
  if (threadIdx.x == 0) of_block = 0;
  __syncthreads();
  atomicAdd_block(&of_block, 0.5 * v);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(d, of_block);
}

// Vectors in PTX: each element is atomic.
extern "C" __global__ void vectors(const float* x, float* y) {
  float v = x[threadIdx.x];
  asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %1, %2};" ::"l"(y), "f"(v), "f"(-v)
               : "memory");
  asm volatile("red.global.add.noftz.v2.f16x2 [%0], {%1, %1};" ::"l"(y + 4),
               "r"(0x3c003c00u)
               : "memory");
}

extern "C" __global__ void integers(const int* x, int* r, unsigned* u, long long* l,
                                    unsigned short* s) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, v = x[i];
  atomicAdd(&r[0], v);
  atomicSub(&r[1], v);
  atomicMin(&r[2], v);
  atomicMax_system(&r[3], v);
  atomicAnd(&u[0], (unsigned)v | 0xff00u);
  atomicOr(&u[1], 1u << (v & 31));
  atomicXor(&u[2], (unsigned)v);
  atomicInc(&u[3], 7u);
  atomicDec(&u[4], 9u);
  atomicAdd((unsigned long long*)&l[0], (unsigned long long)(long long)v << 33);
  atomicMax(&l[1], (long long)v << 33);
  atomicExch(&r[4], 4711);
  unsigned short old = *(volatile unsigned short*)s, seen;
  do {
    seen = old;
    old = atomicCAS(s, seen, (unsigned short)(seen + 1));
  } while (old != seen);
}

// One lock for all threads of the grid; a plain counter inside.
extern "C" __global__ void lock(int* mutex, int* counter) {
  for (bool done = false; !done;) {
    if (atomicCAS(mutex, 0, 1) != 0) continue;
    __threadfence();
    *(volatile int*)counter = *(volatile int*)counter + 1;
    __threadfence();
    atomicExch(mutex, 0);
    done = true;
  }
}

// The block that comes last adds up what the others left.
__device__ unsigned int finished = 0;
extern "C" __global__ void last_block(const int* x, int* partial, int* total) {
  __shared__ bool last;
  int sum = __reduce_add_sync(0xffffffffu, x[blockIdx.x * 32 + threadIdx.x]);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  int all = 0;
  for (int i = threadIdx.x; i < gridDim.x; i += 32) all += ((volatile int*)partial)[i];
  all = __reduce_add_sync(0xffffffffu, all);
  if (threadIdx.x == 0) *total = all;
}
