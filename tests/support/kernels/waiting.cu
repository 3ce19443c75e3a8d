// waiting.cu: threads and blocks that wait for each other with memory alone, and
// threads of a block that part ways.

// The last warp sets a flag that the others poll.
extern "C" __global__ void flag_of_a_block(const int* x, int* y) {
  __shared__ volatile int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x >= blockDim.x - 32) {
    if (threadIdx.x == blockDim.x - 1) flag = x[blockIdx.x];
  } else {
    while (flag == 0) {
    }
    y[blockIdx.x * (blockDim.x - 32) + threadIdx.x] = flag;
  }
}

// Each block adds to what its successor leaves: the last has to come first.
extern "C" __global__ void chain(const int* x, int* flags, int* sums) {
  int b = blockIdx.x, sum = x[b];
  if (threadIdx.x != 0) return;
  if (b + 1 < gridDim.x) {
    while (*(volatile int*)&flags[b + 1] == 0) {
    }
    __threadfence();
    sum += *(volatile int*)&sums[b + 1];
  }
  sums[b] = sum;
  __threadfence();
  *(volatile int*)&flags[b] = 1;
}

// A barrier of all blocks made of a counter. In every round a block takes the average
// of its own value and its neighbour's.
extern "C" __global__ void rounds(int* arrived, float* values, int count) {
  int n = gridDim.x, b = blockIdx.x;
  for (int i = 0; i < count; ++i) {
    volatile float *from = values + i % 2 * n, *to = values + (i + 1) % 2 * n;
    if (threadIdx.x == 0) to[b] = 0.5f * (from[b] + from[(b + 1) % n]);
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      atomicAdd(arrived, 1);
      while (*(volatile int*)arrived < (i + 1) * n) {
      }
      __threadfence();
    }
    __syncthreads();
  }
}

// Whole blocks poll, with barriers in their loops, until one block says so.
extern "C" __global__ void blocks_poll(int* flag, int* y) {
  __shared__ int seen;
  if (blockIdx.x == gridDim.x - 1) {
    if (threadIdx.x == 0) *(volatile int*)flag = 4711;
    return;
  }
  while (true) {
    if (threadIdx.x == 0) seen = *(volatile int*)flag;
    __syncthreads();
    if (seen) break;
    __syncthreads();
  }
  y[blockIdx.x * blockDim.x + threadIdx.x] = seen;
}

// Prefix sums of many blocks in one pass: a block waits for what its predecessors know.
// `states` holds 2^32 + sum for a block's own numbers, 2^33 + sum for all up to it.
extern "C" __global__ void look_back(const unsigned* x, unsigned* ticket,
                                     unsigned long long* states, unsigned* y, int n) {
  __shared__ unsigned tile, before, warps[32];
  if (threadIdx.x == 0) tile = atomicAdd(ticket, 1);
  __syncthreads();
  int i = tile * blockDim.x + threadIdx.x;
  unsigned lane = threadIdx.x % 32, sum = i < n ? x[i] : 0;
  for (int step = 1; step < 32; step *= 2) {
    unsigned left = __shfl_up_sync(0xffffffffu, sum, step);
    if (lane >= step) sum += left;
  }
  if (lane == 31) warps[threadIdx.x / 32] = sum;
  __syncthreads();
  for (int w = 0; w < threadIdx.x / 32; ++w) sum += warps[w];
  if (threadIdx.x == blockDim.x - 1) {
    unsigned long long own = sum, earlier = 0;
    atomicExch(&states[tile], (tile == 0 ? 2ull : 1ull) << 32 | own);
    for (int t = (int)tile - 1; t >= 0; --t) {
      unsigned long long state;
      while ((state = *(volatile unsigned long long*)&states[t]) == 0) {
      }
      earlier += (unsigned)state;
      if (state >> 33) break;
    }
    if (tile != 0) atomicExch(&states[tile], 2ull << 32 | (unsigned)(earlier + own));
    before = (unsigned)earlier;
  }
  __syncthreads();
  if (i < n) y[i] = before + sum;
}

// Threads that have returned do not count at barriers.
extern "C" __global__ void early_exits(int* y, int living) {
  __shared__ int values[256];
  int t = threadIdx.x, value = t;
  if (t >= living) return;
  for (int i = 0; i < 20; ++i) {
    values[t] = value;
    __syncthreads();
    value = values[(t + 1) % living];
    __syncthreads();
  }
  y[blockIdx.x * blockDim.x + t] = value;
}

// Quarters of a warp shuffle among themselves, each as often as it likes.
extern "C" __global__ void parted(int* y, unsigned* active) {
  int t = threadIdx.x, quarter = t % 32 / 8, value = t;
  unsigned mask = 0xffu << 8 * quarter;
  for (int i = 0; i <= quarter; ++i) {
    value += __shfl_xor_sync(mask, value, 1 << i % 3);
    __syncwarp(mask);
  }
  y[t] = value;
  unsigned seen = 0;
  if (quarter >= 2) seen = __activemask();
  active[t] = seen;
}
