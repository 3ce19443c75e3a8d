// barriers.cu: kernels whose threads do not all come to a barrier, and beside each one
// that is right.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// The other half goes on and ends.
// CALL: f32(64), 64 | 64 -> 64 | grid=1, block=64
// SAYS: divergent __syncthreads; has gone past it and ended; thread (32,0,0)
extern "C" __global__ void skipped(const float* x, float* y, int n) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  float other = 0.0f;
  if (t < n / 2) {
    __syncthreads();  // BUG skipped
    other = s[63 - t];
  }
  y[t] = s[t] + other;  // BUG skipped
}
extern "C" __global__ void skipped_fixed(const float* x, float* y, int n) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  float other = 0.0f;
  __syncthreads();
  if (t < n / 2) other = s[63 - t];
  y[t] = s[t] + other;
}

// Threads with less work leave the loop earlier.
// CALL: f32(100) | n -> 64 | grid=1, block=64
// SAYS: divergent __syncthreads; has gone past it and ended
extern "C" __global__ void uneven_trips(const float* x, float* y, int n) {
  __shared__ float s[64];
  int t = threadIdx.x;
  float sum = 0.0f;
  for (int i = t; i < n; i += 64) {
    s[t] = x[i];
    __syncthreads();  // BUG uneven_trips
    sum += s[t ^ 1];
    __syncthreads();
  }
  y[t] = sum;  // BUG uneven_trips
}
extern "C" __global__ void uneven_trips_fixed(const float* x, float* y, int n) {
  __shared__ float s[64];
  int t = threadIdx.x;
  float sum = 0.0f;
  for (int first = 0; first < n; first += 64) {
    s[t] = first + t < n ? x[first + t] : 0.0f;
    __syncthreads();
    sum += s[t ^ 1];
    __syncthreads();
  }
  y[t] = sum;
}

// A thread that has found its value does not wait for the others.
// CALL: np.arange(64, dtype="f4"), 3 | 64 -> 64 | grid=1, block=64
// SAYS: divergent __syncthreads; has gone past it and ended
extern "C" __global__ void break_out(const float* x, float* y, int n) {
  __shared__ float s[64];
  int t = threadIdx.x, steps = 0;
  s[t] = x[t];
  __syncthreads();
  for (; steps < n; steps++) {
    float left = s[(t + 63) % 64];
    if (left < 0.0f) break;
    __syncthreads();  // BUG break_out
    s[t] = left - 1.0f;
    __syncthreads();
  }
  y[t] = steps;  // BUG break_out
}
extern "C" __global__ void break_out_fixed(const float* x, float* y, int n) {
  __shared__ float s[64];
  int t = threadIdx.x, steps = -1;
  s[t] = x[t];
  __syncthreads();
  for (int k = 0; k < n; k++) {
    float left = s[(t + 63) % 64];
    if (left < 0.0f && steps < 0) steps = k;
    __syncthreads();
    s[t] = left - 1.0f;
    __syncthreads();
  }
  y[t] = steps < 0 ? n : steps;
}

// One line, two barriers.
// CALL: f32(64), 64 | 64 -> 64 | grid=1, block=64
// SAYS: divergent __syncthreads; reached by another branch; thread (32,0,0)
extern "C" __global__ void one_line(const float* x, float* y, int n) {
  __shared__ float s[64];
  int t = threadIdx.x;
  // clang-format off
  if (t < 32) { s[t] = x[t]; __syncthreads(); s[t] += 1.0f; } else { s[t] = -x[t]; __syncthreads(); }  // BUG one_line
  // clang-format on
  y[t] = s[t];
}
extern "C" __global__ void one_line_fixed(const float* x, float* y, int n) {
  __shared__ float s[64];
  int t = threadIdx.x;
  // clang-format off
  if (n < 32) { s[t] = x[t]; __syncthreads(); s[t] += 1.0f; } else { s[t] = -x[t]; __syncthreads(); }
  // clang-format on
  y[t] = s[t];
}

// An inlined function has one barrier for each call.
__device__ float exchanged(float* s, float value, int t) {
  s[t] = value;
  __syncthreads();  // BUG called_twice
  return s[63 - t];
}
// SAYS: divergent __syncthreads
extern "C" __global__ void called_twice(const float* x, float* y, int n) {
  __shared__ float s[64];
  int t = threadIdx.x;
  if (t < 32) {
    y[t] = exchanged(s, x[t], t);
  } else {
    y[t] = exchanged(s, -x[t], t) + 1.0f;
  }
}
extern "C" __global__ void called_twice_fixed(const float* x, float* y, int n) {
  __shared__ float s[64];
  int t = threadIdx.x;
  float other = exchanged(s, t < 32 ? x[t] : -x[t], t);
  y[t] = t < 32 ? other : other + 1.0f;
}

// A barrier that counts is a barrier.
// SAYS: divergent __syncthreads
extern "C" __global__ void counted(const float* x, float* y, int n) {
  int t = threadIdx.x;
  if (x[t] > 0.0f) {
    y[t] = __syncthreads_count(x[t] > 1.0f);  // BUG counted
  } else {
    y[t] = -__syncthreads_count(x[t] < -1.0f);  // BUG counted
  }
}
extern "C" __global__ void counted_fixed(const float* x, float* y, int n) {
  int t = threadIdx.x;
  int high = __syncthreads_count(x[t] > 1.0f);
  int low = __syncthreads_count(x[t] < -1.0f);
  y[t] = x[t] > 0.0f ? high : -low;
}

// SAYS: divergent __syncthreads; has gone past it and ended
extern "C" __global__ void grouped(const float* x, float* y, int n) {
  __shared__ float s[64];
  auto block = cg::this_thread_block();
  int t = block.thread_rank();
  s[t] = x[t];
  if (t % 32 == 0) block.sync();
  y[t] = s[t] + 1.0f;  // BUG grouped
}
extern "C" __global__ void grouped_fixed(const float* x, float* y, int n) {
  __shared__ float s[64];
  auto block = cg::this_thread_block();
  int t = block.thread_rank();
  s[t] = x[t];
  block.sync();
  y[t] = s[t] + 1.0f;
}

// Only half of the lanes that the mask names come to the shuffle.
// SAYS: divergent warp operation; has gone past it and ended
extern "C" __global__ void half_shuffle(const float* x, float* y, int n) {
  int t = threadIdx.x;
  float value = x[t];
  if (t % 32 < 16) {
    value += __shfl_xor_sync(0xffffffff, value, 8);  // BUG half_shuffle
  }
  y[t] = value;  // BUG half_shuffle
}
extern "C" __global__ void half_shuffle_fixed(const float* x, float* y, int n) {
  int t = threadIdx.x;
  float value = x[t];
  if (t % 32 < 16) {
    value += __shfl_xor_sync(0x0000ffff, value, 8);
  }
  y[t] = value;
}

// SAYS: divergent warp operation; has gone past it and ended
extern "C" __global__ void half_tile(const float* x, float* y, int n) {
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  float value = x[threadIdx.x];
  if (tile.thread_rank() < 8) value = tile.shfl(value, 0);
  y[threadIdx.x] = value;  // BUG half_tile
}
extern "C" __global__ void half_tile_fixed(const float* x, float* y, int n) {
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  float value = x[threadIdx.x];
  float first = tile.shfl(value, 0);
  y[threadIdx.x] = tile.thread_rank() < 8 ? first : value;
}

// Threads that have nothing to add go on to read the sum.
// CALL: f32(64) | 64 -> 64 | grid=1, block=64
// SAYS: data race; not ordered; waits at the __syncthreads() at; has gone past;
//   of the branch
extern "C" __global__ void tree(const float* x, float* y) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  for (int h = 32; h > 0; h /= 2) {
    if (t < h) {
      s[t] += s[t + h];  // BUG tree
      __syncthreads();   // BUG tree
    }
  }
  y[t] = s[0];  // BUG tree
}
extern "C" __global__ void tree_fixed(const float* x, float* y) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  for (int h = 32; h > 0; h /= 2) {
    if (t < h) s[t] += s[t + h];
    __syncthreads();
  }
  y[t] = s[0];
}
// The same before a write, which only tells afterwards whether it has changed anything.
// CALL: f32(64), 40 | 64 -> 64 | grid=1, block=64
// SAYS: data race; not ordered; waits at the __syncthreads() at; has gone past;
//   of the branch
extern "C" __global__ void cleared(const float* x, float* y, int n) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = 0;
  __syncthreads();
  if (t < n) {
    y[t] = s[n];      // BUG cleared
    __syncthreads();  // BUG cleared
  }
  s[t] = x[t];  // BUG cleared
}
extern "C" __global__ void cleared_fixed(const float* x, float* y, int n) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = 0;
  __syncthreads();
  if (t < n) y[t] = s[n];
  __syncthreads();
  s[t] = x[t];
  if (t >= n) y[t] = s[t];
}

// Warp 1 skips the barrier, and touches no memory afterwards.
// CALL: f32(64), 0 | 64 -> 64 | grid=1, block=64
// SAYS: divergent __syncthreads; has gone past it and ended; thread (32,0,0)
extern "C" __global__ void quiet_vote(const float* x, float* y, int n) {
  __shared__ float s[32];
  int t = threadIdx.x;
  float value = x[t];
  if (t < 32) {
    s[t] = value;
    __syncthreads();  // BUG quiet_vote
    value = s[t ^ 1];
  }
  int count = __popc(__ballot_sync(0xffffffff, value > 0.0f));  // BUG quiet_vote
  if (t < 32) y[t] = y[t + 32] = count;
}
extern "C" __global__ void quiet_vote_fixed(const float* x, float* y, int n) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  int count = __popc(__ballot_sync(0xffffffff, s[t ^ 1] > 0.0f));
  if (t < 32) y[t] = y[t + 32] = count;
}

// From here on nothing is wrong: threads that have ended need not come.
// CALL: f32(64), 40 | 64 -> 64 | grid=1, block=64

// What threads do before they return is their own business.
extern "C" __global__ void return_early(const float* x, float* y, int n) {
  __shared__ float s[64];
  int t = threadIdx.x;
  if (t >= n) {
    y[t] = 0.0f;
    return;
  }
  s[t] = x[t];
  __syncthreads();
  y[t] = s[n - 1 - t];
}
extern "C" __global__ void return_in_loop(const float* x, float* y, int n) {
  __shared__ float s[64];
  int t = threadIdx.x;
  for (int k = 0; k < n; k++) {
    s[t] = x[t] + k;
    y[t] = s[t];
    if (t == k) return;
    __syncthreads();
  }
}
// Half of the threads have a role of their own.
extern "C" __global__ void roles(const float* x, float* y, int n) {
  __shared__ float s[64];
  int t = threadIdx.x;
  if (t >= 32) {
    y[t] = 2.0f * x[t];
  } else {
    s[t] = x[t];
    __syncthreads();
    y[t] = s[31 - t];
  }
}

// Lanes that have returned need not come.
extern "C" __global__ void shuffle_of_the_rest(const float* x, float* y, int n) {
  int t = threadIdx.x;
  if (t >= n) {
    y[t] = x[t];
    return;
  }
  y[t] = x[t] + __shfl_sync(0xffffffff, x[t], 0);
}
// The same with one place in the source for both stores.
extern "C" __global__ void return_from_lambda(const float* x, float* y, int n) {
  __shared__ float s[64];
  int t = threadIdx.x;
  auto finish = [&](float value) { y[t] = value; };
  if (t >= n) {
    finish(0.0f);
    return;
  }
  s[t] = x[t];
  __syncthreads();
  finish(s[n - 1 - t]);
}
#define REVERSE(x, y, n)  \
  __shared__ float s[64]; \
  int t = threadIdx.x;    \
  if (t >= n) {           \
    y[t] = 0.0f;          \
    return;               \
  }                       \
  s[t] = x[t];            \
  __syncthreads();        \
  y[t] = s[n - 1 - t];
extern "C" __global__ void return_in_macro(const float* x, float* y, int n) {
  REVERSE(x, y, n)
}

// Warp 1 votes as well, before it leaves: nobody waits for it.
extern "C" __global__ void vote_and_leave(const float* x, float* y, int n) {
  __shared__ float s[32];
  int t = threadIdx.x;
  int count = __popc(__ballot_sync(0xffffffff, x[t] > 0.0f));
  if (t >= 32) return;
  s[t] = x[t];
  __syncthreads();
  count += __popc(__ballot_sync(0xffffffff, s[t ^ 1] > 0.0f));
  y[t] = y[t + 32] = count;
}
