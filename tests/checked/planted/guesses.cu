// guesses.cu: plain reads that a compare-and-swap verifies, which are right, and at the
// end some that it does not.
#if RIGHT
#define LOOK(p) (*(volatile int*)(p))
#else
#define LOOK(p) (*(p))
#endif

__device__ double add(double* address, double value) {  // of CUDA's guide
  unsigned long long* words = (unsigned long long*)address;
  unsigned long long old = *words, assumed;
  do {
    assumed = old;
    old = atomicCAS(words, assumed,
                    __double_as_longlong(value + __longlong_as_double(assumed)));
  } while (assumed != old);
  return __longlong_as_double(old);
}
extern "C" __global__ void double_sum(const double* x, double* y) {
  add(y, x[blockIdx.x * blockDim.x + threadIdx.x]);
}
extern "C" __global__ void double_sum_in_shared(const double* x, double* y) {
  __shared__ double sums[2];
  const int t = threadIdx.x;
  if (t < 2) sums[t] = 0;
  __syncthreads();
  add(&sums[t & 1], x[blockIdx.x * blockDim.x + t]);
  __syncthreads();
  if (t == 0) add(y, sums[0] + sums[1]);
}

__device__ __noinline__ double add_elsewhere(double* address, double value) {
  return add(address, value);
}
extern "C" __global__ void double_sum_by_function(const double* x, double* y) {
  add_elsewhere(y, x[blockIdx.x * blockDim.x + threadIdx.x]);
}

// Nothing to do where the value is large enough already.
__device__ float raise(float* address, float value) {
  int* words = (int*)address;
  int old = *words;
  while (__int_as_float(old) < value) {
    const int assumed = old;
    old = atomicCAS(words, assumed, __float_as_int(value));
    if (assumed == old) break;
  }
  return __int_as_float(old);
}
extern "C" __global__ void float_maximum(const float* x, float* y) {
  raise(y, x[blockIdx.x * blockDim.x + threadIdx.x]);
}
extern "C" __global__ void float_maximum_strided(const float* x, float* y, int n) {
  const int stride = gridDim.x * blockDim.x;
  int seen = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    int* words = (int*)&y[i & 1];
    int old = *words, assumed;
    if (__int_as_float(old) >= x[i]) continue;
    do {
      assumed = old;
      if (__int_as_float(assumed) >= x[i]) break;
    } while ((old = atomicCAS(words, assumed, __float_as_int(x[i]))) != assumed);
    seen++;
  }
  __shared__ int all;
  if (threadIdx.x == 0) all = 0;
  __syncthreads();
  atomicAdd(&all, seen);
}

extern "C" __global__ void short_sum(const unsigned short* x, unsigned short* y) {
  unsigned short old = *y, assumed;
  do {
    assumed = old;
    old = atomicCAS(y, assumed, (unsigned short)(assumed + x[threadIdx.x]));
  } while (assumed != old);
}
// One of two halves of a word.
extern "C" __global__ void half_word_sum(const unsigned short* x, unsigned short* y) {
  unsigned int* word = (unsigned int*)y;
  unsigned int seen = *word, before;
  const int shift = 16 * (threadIdx.x & 1);
  do {
    before = seen;
    const unsigned int sum = ((before >> shift) + x[threadIdx.x]) & 0xffffu;
    seen = atomicCAS(word, before, (before & ~(0xffffu << shift)) | sum << shift);
  } while (seen != before);
}
// Two floats at once.
extern "C" __global__ void pair_sum(const float2* x, float2* y) {
  float2 seen = *y;
  const float2 value = x[blockIdx.x * blockDim.x + threadIdx.x];
  for (;;) {
    const float2 sum = {seen.x + value.x, seen.y + value.y};
    const auto before = *(unsigned long long*)&seen;
    const auto old =
        atomicCAS((unsigned long long*)y, before, *(unsigned long long*)&sum);
    if (old == before) break;
    seen = *(const float2*)&old;
  }
}
// A list: the guess is written down before it is verified.
extern "C" __global__ void push(int* head, int* next, int* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int seen = *head;
  for (;;) {
    next[i] = seen;
    const int old = atomicCAS(head, seen, i);
    if (old == seen) break;
    seen = old;
  }
  y[i] = seen;
}
// It may fail.
extern "C" __global__ void try_once(const int* x, int* y) {
  const int seen = *y;
  atomicCAS(y, seen, seen + x[threadIdx.x]);
}

// The early way out tells what has not been verified.
// CALL: zeros(1), zeros(64), 10 | 1, 64 | grid=2, block=32, in_out=("total", "y")
// SAYS: argument 'total' (int32[1]); data race; not ordered
extern "C" __global__ void told(int* total, int* y, int limit) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int seen = LOOK(total);  // BUG told
  while (seen < limit) {
    const int before = seen;
    seen = atomicCAS(total, before, before + 1);  // BUG told
    if (seen == before) break;
  }
  y[i] = seen;
}
// SAYS: argument 'total' (int32[1]); data race; not ordered
extern "C" __global__ void one_side(int* total, int* y, int limit) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int seen = LOOK(total);  // BUG one_side
  if (seen >= limit) {
    y[i] = 1;
  } else {
    atomicCAS(total, seen, seen + 1);  // BUG one_side
  }
}
// What is swapped is something else.
// SAYS: argument 'total' (int32[1]); data race; not ordered
extern "C" __global__ void other_value(int* total, int* y, int limit) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (LOOK(total) < limit) {        // BUG other_value
    atomicCAS(total, i, y[i] + 1);  // BUG other_value
  }
}
// The swap verifies the flag, but not what the flag stands for.
// SAYS: argument 'y' (int32[64]); data race; not ordered
extern "C" __global__ void message(int* total, int* y, int limit) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0) {
    *y = limit;  // BUG message
    __threadfence();
    atomicExch(total, 1);
  } else if (i == 32) {
    int seen = LOOK(total), before;
    do {
      before = seen;
      __threadfence();
      seen = atomicCAS(total, before, before > 0 ? *y : 2);  // BUG message
    } while (seen != before);
  }
}
