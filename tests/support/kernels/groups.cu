// groups.cu: cooperative groups inside a block. Every kernel runs blocks of one or more
// warps over int[n] and gives one value per thread.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <cuda/atomic>
#include <cuda/std/utility>

namespace cg = cooperative_groups;

// A butterfly sum over tiles of every size, and where a tile stands in its block.
template <int Size>
__global__ void tile_sum(const int* x, int* sums, int* places) {
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<Size>(block);
  int i = block.group_index().x * block.size() + block.thread_rank();
  int value = x[i];
  for (int step = tile.size() / 2; step > 0; step /= 2)
    value += tile.shfl_xor(value, step);
  sums[i] = value;
  places[i] = tile.meta_group_rank() * 10000 + tile.meta_group_size() * 100 +
              tile.thread_rank();
}

// A tile of a tile, with a vote, a ballot and a match in it.
extern "C" __global__ void nested_tiles(const int* x, int* any, int* all,
                                        unsigned* ballot, unsigned* match, int* up,
                                        int* down) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  auto tile = cg::tiled_partition<8>(warp);
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  any[i] = tile.any(x[i] == 3);
  all[i] = tile.all(x[i] > 0);
  ballot[i] = tile.ballot(x[i] & 1);
  match[i] = tile.match_any(x[i]);
  up[i] = tile.shfl_up(x[i], 1);
  down[i] = tile.shfl_down(x[i], 3);
}

// One atomic per coalesced group instead of one per thread.
extern "C" __global__ void append_odd(const int* x, int* count, int* found) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if ((x[i] & 1) == 0) return;
  auto group = cg::coalesced_threads();
  int first = 0;
  if (group.thread_rank() == 0) first = atomicAdd(count, (int)group.num_threads());
  found[group.shfl(first, 0) + group.thread_rank()] = x[i];
}

// Threads grouped by a label, and by a predicate.
extern "C" __global__ void partitions(const int* x, int* labelled, int* binary) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  auto same = cg::labeled_partition(warp, x[i] % 3);
  labelled[i] = cg::reduce(same, x[i], cg::plus<int>());
  auto half = cg::binary_partition(warp, x[i] > 4);
  binary[i] = half.size() * 100 + half.thread_rank();
}

// How many parts there are, and which one a thread is in. The labels differ above their
// lower 32 bits.
template <class Group>
__device__ int numbered(const Group& group) {
  return group.size() * 10000 + group.meta_group_size() * 100 + group.meta_group_rank();
}
extern "C" __global__ void numbered_parts(const int* x, int* labelled, int* binary,
                                          long long* of_some) {
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  labelled[i] = numbered(cg::labeled_partition(tile, (long long)(x[i] % 3) << 32));
  binary[i] = numbered(cg::binary_partition(tile, x[i] > 2));
  of_some[i] = -1;
  if (i % 3 == 0) return;
  auto some = cg::coalesced_threads();
  auto same = cg::labeled_partition(some, (unsigned)x[i] % 4);
  of_some[i] =
      numbered(same) + 1000000ll * numbered(cg::binary_partition(same, x[i] > 5));
}

// One thread for its group, with arguments; groups behind a handle.
__device__ int placed(cg::thread_group group) {
  group.sync();
  return group.size() * 1000 + group.thread_rank();
}
extern "C" __global__ void handles(int* alone, int* tile, int* some, int* whole,
                                   int* totals, int* first) {
  auto block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  alone[i] = placed(cg::this_thread());
  tile[i] = placed(cg::tiled_partition(cg::tiled_partition<16>(block), 8));
  whole[i] = placed(block);
  cg::invoke_one(block, [](int* p, int n) { atomicAdd(p, n); }, totals, 2);
  int old = cg::invoke_one_broadcast(
      warp, [](int* p, int n) { return atomicAdd(p, n); }, totals + 1, 3);
  first[i] = old;
  some[i] = 0;
  if (i % 4 == 0) some[i] = placed(cg::coalesced_threads());
}

extern "C" __global__ void reductions(const int* x, int* sum, int* least, int* most,
                                      int* conjunction, int* exclusive_or) {
  auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  sum[i] = cg::reduce(tile, x[i], cg::plus<int>());
  least[i] = cg::reduce(tile, x[i], cg::less<int>());
  most[i] = cg::reduce(tile, x[i], cg::greater<int>());
  conjunction[i] = cg::reduce(tile, x[i], cg::bit_and<int>());
  exclusive_or[i] = cg::reduce(tile, x[i], cg::bit_xor<int>());
}

extern "C" __global__ void reduce_floats(const float* x, float* sum, double* product) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  sum[i] = cg::reduce(warp, x[i], cg::plus<float>());
  product[i] = cg::reduce(warp, (double)x[i], [](double a, double b) { return a * b; });
}

extern "C" __global__ void scans(const int* x, int* inclusive, int* exclusive,
                                 int* running_most) {
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  inclusive[i] = cg::inclusive_scan(tile, x[i]);
  exclusive[i] = cg::exclusive_scan(tile, x[i], cg::plus<int>());
  running_most[i] = cg::inclusive_scan(tile, x[i], cg::greater<int>());
}

// A warp at a time hands its total to an atomic number that all warps share, and takes
// its place in the order in which they came.
extern "C" __global__ void handed_on(const int* x, int* total, int* most, int* ranks,
                                     int* claimed, int* inclusive, int* exclusive) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  using Shared = cuda::atomic_ref<int, cuda::thread_scope_device>;
  Shared sum(total[0]), place(total[1]), end(total[2]), one(most[0]);
  Shared last(most[1 + i / 32]);
  cg::reduce_update_async(warp, sum, x[i], cg::plus<int>());
  cg::reduce_update_async(warp, one, x[i], cg::greater<int>());
  cg::reduce_store_async(warp, last, x[i], cg::greater<int>());
  inclusive[i] = cg::inclusive_scan_update(warp, place, x[i], cg::plus<int>());
  exclusive[i] = cg::exclusive_scan_update(warp, end, x[i]);
  ranks[i] = cg::invoke_one_broadcast(warp, [&] { return atomicAdd(claimed, 1); });
}

// The block copies a row into shared memory, with and without an element layout.
extern "C" __global__ void copied_rows(const float4* x, float4* reversed, int n) {
  extern __shared__ float4 row[];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, row, x + (size_t)blockIdx.x * n, sizeof(float4) * n);
  cg::wait(block);
  for (int i = block.thread_rank(); i < n; i += block.size())
    reversed[(size_t)blockIdx.x * n + i] = row[n - 1 - i];
}

// Split arrival and wait: what was written before the arrival is seen after the wait.
extern "C" __global__ void split_barrier(const int* x, int* y) {
  __shared__ int values[256];
  auto block = cg::this_thread_block();
  unsigned rank = block.thread_rank();
  values[rank] = x[blockIdx.x * block.size() + rank];
  auto token = block.barrier_arrive();
  int own = values[rank] * 1000;
  block.barrier_wait(cuda::std::move(token));
  y[blockIdx.x * block.size() + rank] = own + values[block.size() - 1 - rank];
}

// A group whose size is known only at run time.
__device__ int sum_over(const cg::thread_group& group, int* scratch, int value) {
  int rank = group.thread_rank();
  for (int i = group.size() / 2; i > 0; i /= 2) {
    scratch[rank] = value;
    group.sync();
    if (rank < i) value += scratch[rank + i];
    group.sync();
  }
  return value;
}
extern "C" __global__ void dynamic_group(const int* x, int* sums, int width) {
  __shared__ int scratch[256];
  auto block = cg::this_thread_block();
  int i = blockIdx.x * block.size() + block.thread_rank();
  int whole = sum_over(block, scratch, x[i]);
  block.sync();
  auto tile = cg::tiled_partition(block, width);
  int* mine = scratch + block.thread_rank() / width * width;
  int part = sum_over(tile, mine, x[i]);
  if (block.thread_rank() == 0) sums[blockIdx.x * 2] = whole;
  if (block.thread_rank() == 0) sums[blockIdx.x * 2 + 1] = part;
}

// All blocks of a cooperative launch meet twice.
extern "C" __global__ void grid_normalise(const float* x, float* partial, float* y) {
  __shared__ float warps[8];
  auto grid = cg::this_grid();
  auto block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  float value = x[grid.thread_rank()];
  float sum = cg::reduce(warp, value, cg::plus<float>());
  if (warp.thread_rank() == 0) warps[warp.meta_group_rank()] = sum;
  block.sync();
  if (block.thread_rank() == 0) {
    sum = 0;
    for (int i = 0; i < warp.meta_group_size(); ++i) sum += warps[i];
    partial[grid.block_rank()] = sum;
  }
  grid.sync();
  float total = 0;
  for (int i = 0; i < grid.num_blocks(); ++i) total += partial[i];
  auto token = grid.barrier_arrive();
  grid.barrier_wait(cuda::std::move(token));
  if (block.thread_rank() == 0) partial[grid.block_rank()] = total;
  y[grid.thread_rank()] = value / total;
}
