// warp.cu: operations of a warp and of a block. One value per thread comes back.

extern "C" __global__ void votes(const int* x, int* all, int* any, int* uniform,
                                 unsigned* ballot, unsigned* active) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  all[i] = __all_sync(0xffffffffu, x[i] > 0);
  any[i] = __any_sync(0xffffffffu, x[i] == 9);
  uniform[i] = __uni_sync(0xffffffffu, x[i / 32 * 32] == x[i]);
  ballot[i] = __ballot_sync(0xffffffffu, x[i] & 1);
  active[i] = 0;
  if (x[i] & 1) active[i] = __activemask();
}

extern "C" __global__ void matches(const int* x, const double* d, unsigned* any,
                                   unsigned* any_double, unsigned* all, int* same) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, predicate;
  any[i] = __match_any_sync(0xffffffffu, x[i]);
  any_double[i] = __match_any_sync(0xffffffffu, d[i]);
  all[i] = __match_all_sync(0xffffffffu, x[i / 32 * 32] / 8, &predicate);
  same[i] = predicate;
}

// Odd lanes and even lanes are two groups.
extern "C" __global__ void reductions(const int* x, int* sum, int* least, int* most,
                                      unsigned* unsigned_most, unsigned* both,
                                      unsigned* either, unsigned* odd) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned mask = threadIdx.x & 1 ? 0xaaaaaaaau : 0x55555555u;
  sum[i] = __reduce_add_sync(mask, x[i]);
  least[i] = __reduce_min_sync(mask, x[i]);
  most[i] = __reduce_max_sync(mask, x[i]);
  unsigned_most[i] = __reduce_max_sync(mask, (unsigned)x[i]);
  both[i] = __reduce_and_sync(mask, (unsigned)x[i]);
  either[i] = __reduce_or_sync(mask, (unsigned)x[i]);
  odd[i] = __reduce_xor_sync(mask, (unsigned)x[i]);
}

// Exactly one lane of each warp is chosen.
extern "C" __global__ void elected(int* chosen, int* leader) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned lane, is_leader;
  asm volatile(
      "{\n\t.reg .pred p;\n\telect.sync %0|p, 0xffffffff;\n\t"
      "selp.u32 %1, 1, 0, p;\n\t}"
      : "=r"(lane), "=r"(is_leader));
  chosen[i] = is_leader;
  leader[i] = lane;
}

// Shuffles of every kind, in segments of `width` lanes, of 32- and 64-bit values.
extern "C" __global__ void shuffles(const int* x, const double* d, int* from, int* up,
                                    double* down, long long* across, int width) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  from[i] = __shfl_sync(0xffffffffu, x[i], threadIdx.x * 5 + 1, width);
  up[i] = __shfl_up_sync(0xffffffffu, x[i], 3, width);
  down[i] = __shfl_down_sync(0xffffffffu, d[i], 2, width);
  across[i] = __shfl_xor_sync(0xffffffffu, x[i] * 5000000000LL, 1, width);
}

// Two halves of a block work at their own pace; producers do not wait.
extern "C" __global__ void named_barriers(const int* x, int* y) {
  __shared__ int ring[2][64];
  int t = threadIdx.x % 64, rounds = 6;
  if (threadIdx.x < 64) {
    for (int i = 0; i < rounds; ++i) {
      if (i >= 2) asm volatile("bar.sync %0, 128;" ::"r"(3 + i % 2) : "memory");
      ring[i % 2][t] = x[i * 64 + t];
      asm volatile("bar.arrive %0, 128;" ::"r"(1 + i % 2) : "memory");
    }
  } else {
    for (int i = 0; i < rounds; ++i) {
      asm volatile("bar.sync %0, 128;" ::"r"(1 + i % 2) : "memory");
      y[i * 64 + t] = ring[i % 2][63 - t] * 2;
      asm volatile("bar.arrive %0, 128;" ::"r"(3 + i % 2) : "memory");
    }
  }
}

extern "C" __global__ void block_votes(const int* x, int* count, int* all, int* any,
                                       int* half) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  count[i] = __syncthreads_count(x[i] > 4);
  all[i] = __syncthreads_and(x[i] >= 0);
  any[i] = __syncthreads_or(x[i] == 123);
  // bar.red over half of the block, with a barrier of its own.
  int id = 1 + threadIdx.x / 32, found;
  asm volatile(
      "{\n\t.reg .pred p;\n\tsetp.gt.s32 p, %1, 4;\n\t"
      "barrier.cta.red.popc.u32 %0, %2, 32, p;\n\t}"
      : "=r"(found)
      : "r"(x[i]), "r"(id)
      : "memory");
  half[i] = found;
}
