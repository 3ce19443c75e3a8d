// tricky.cu: right kernels that look wrong.
#include <cooperative_groups.h>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;

struct alignas(8) Complex {
  float re, im;
};
__device__ Complex operator*(Complex a, Complex b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
struct Bits {
  unsigned a : 5, b : 11, c : 16;
};

extern "C" {

// CALL: f32(512), zeros(512, "f4") | 512, 512 | grid=1, block=32, in_out="y"

// Unions and type punning.
__global__ void punned(const float* x, float* y) {
  union {
    float4 v;
    float f[4];
    unsigned u[4];
  } p;
  p.v = ((const float4*)x)[threadIdx.x];
  p.u[0] ^= 0x80000000u;
  ((float4*)y)[threadIdx.x] = make_float4(p.f[3], p.f[2], p.f[1], p.f[0]);
}

// A pointer walks one past the end.
__global__ void one_past(const float* x, float* y) {
  const float* end = x + 256;
  float s = 0;
  for (const float* p = x + threadIdx.x; p < end; p += 32) s += *p;
  y[threadIdx.x] = s;
}

// Reversed loop with unsigned wraparound guard.
__global__ void down(const float* x, float* y) {
  float s = 0;
  for (unsigned i = 7; i < 8; i--) s = s * 0.5f + x[threadIdx.x * 8 + i];
  y[threadIdx.x] = s;
}

// Ternary that a compiler may turn into an unconditional load.
__global__ void select(const float* x, float* y) {
  int t = threadIdx.x;
  __shared__ float s[32];
  s[t] = x[t];
  __syncthreads();
  y[t] = t + 1 < 32 ? s[t + 1] : -1.0f;
}

// Reuse of dynamic shared as another type after a barrier.
__global__ void recycled(const float* x, float* y) {
  __shared__ alignas(8) char raw[256];
  float* f = (float*)raw;
  int* i = (int*)raw;
  int t = threadIdx.x;
  f[t] = x[t];
  __syncthreads();
  float v = f[31 - t];
  __syncthreads();
  i[t] = (int)(v * 10);
  i[t + 32] = t;
  __syncthreads();
  y[t] = i[i[t + 32] ^ 1];
}

// Flattened 2D shared.
__global__ void flattened(const float* x, float* y) {
  __shared__ float s[4][33];
  int t = threadIdx.x;
  float* flat = &s[0][0];
  for (int i = t; i < 4 * 33; i += 32) flat[i] = x[i];
  __syncthreads();
  y[t] = s[3][t] + s[0][t + 1] + s[0][33 + t];
}

// Coalesced groups in a divergent branch.
__global__ void coalesced(const float* x, float* y) {
  int t = threadIdx.x;
  y[t] = 0;
  if (x[t] > 0) {
    auto g = cg::coalesced_threads();
    y[t] = g.shfl(x[t], 0) + g.size();
  }
}

// Double-buffered with async copies.
__global__ void async_stages(const float* x, float* y) {
  __shared__ alignas(16) float s[2][128];
  int t = threadIdx.x;
  __pipeline_memcpy_async(&s[0][4 * t], &x[4 * t], 16);
  __pipeline_commit();
  float sum = 0;
  for (int i = 0; i < 2; i++) {
    if (i < 1) __pipeline_memcpy_async(&s[1][4 * t], &x[128 + 4 * t], 16);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    sum += s[i & 1][127 - t];
    __syncthreads();
  }
  y[t] = sum;
}

// Bytes written by neighbours, read as words after a barrier.
__global__ void bytes_to_words(const float* x, float* y) {
  __shared__ alignas(4) unsigned char b[128];
  int t = threadIdx.x;
  for (int i = 0; i < 4; i++) b[32 * i + t] = t + i;
  __syncthreads();
  y[t] = ((unsigned*)b)[t] & 0xffff;
}

// Bitfields.
__global__ void bitfields(const float* x, float* y) {
  __shared__ Bits s[32];
  int t = threadIdx.x;
  Bits z = {};
  z.a = t;
  z.b = 3 * t;
  z.c = 7;
  s[t] = z;
  __syncthreads();
  s[t].b = 4;
  __syncthreads();
  y[t] = s[t ^ 1].a + s[t ^ 1].b + s[t].c;
}

// Memory of malloc shared through shared memory.
__global__ void team_memory(const float* x, float* y) {
  __shared__ float* p;
  int t = threadIdx.x;
  if (t == 0) p = (float*)malloc(32 * sizeof(float));
  __syncthreads();
  p[t] = x[t];
  __syncthreads();
  y[t] = p[31 - t];
  __syncthreads();
  if (t == 0) free(p);
}

// Threads take turns, and meet at one barrier in a loop.
__global__ void in_rounds(const float* x, float* y) {
  __shared__ float s[32];
  int t = threadIdx.x;
  float v = x[t];
  for (int i = 0; i < 3; i++) {
    if (t % 3 == i) s[t] = v;
    __syncthreads();
    if (t % 3 != i)
      v += (t + 32 - (t % 3) + i) % 32 % 3 == i ? s[(t + 32 - (t % 3) + i) % 32] : 0;
    __syncthreads();
  }
  y[t] = v;
}

__global__ void float4_move(const float* x, float* y) {
  __shared__ float4 s[32], d[32];
  int t = threadIdx.x;
  s[t].x = x[t];
  s[t].y = 1;
  s[t].z = 2;
  __syncthreads();
  d[t] = s[31 - t];
  __syncthreads();
  y[t] = d[t].x;
}

__global__ void fft_step(const float* x, float* y) {
  __shared__ float s[64];
  int t = threadIdx.x;
  Complex* c = reinterpret_cast<Complex*>(s);
  c[t] = {x[2 * t], x[2 * t + 1]};
  __syncthreads();
  Complex v = c[t] * c[t ^ 1];
  __syncthreads();
  reinterpret_cast<Complex*>(s)[t] = v;
  __syncthreads();
  y[t] = s[t];
  y[t + 32] = s[t + 32];
}

// Uniform branch with a barrier.
__global__ void uniform(const float* x, float* y) {
  __shared__ float s[32];
  int t = threadIdx.x;
  s[t] = x[t];
  if (x[0] > -1000) {
    __syncthreads();
    y[t] = s[31 - t];
  } else {
    __syncthreads();
    y[t] = s[t ^ 1];
  }
}

// Warp-synchronous with volatile.
__global__ void volatile_warp(const float* x, float* y) {
  __shared__ volatile float s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  s[t + 32] = 0;
  __syncwarp();
  for (int d = 16; d; d /= 2) {
    float v = s[t] + s[t + d];
    __syncwarp();
    s[t] = v;
    __syncwarp();
  }
  if (t == 0) y[0] = s[0];
}

// Aggregated atomics.
// CALL: f32(512), zeros(512, "f4"), zeros(1) | 512, 512, 1 | grid=1, block=32,
//   in_out=("y", "n")
__global__ void aggregated(const float* x, float* y, int* n) {
  __shared__ int base;
  int t = threadIdx.x;
  unsigned m = __ballot_sync(~0u, x[t] > 0);
  if (t == 0) base = atomicAdd(n, __popc(m));
  __syncthreads();
  if (x[t] > 0) y[base + __popc(m & ((1u << t) - 1))] = x[t];
}
}
