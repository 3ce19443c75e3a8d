// wide_tiles.cu: cooperative groups of several warps. One value per thread.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

// Where a tile stands, and what its threads exchange in memory. Every tile takes as
// many turns as its rank says.
template <int Size>
__global__ void __launch_bounds__(1024)
    places(const int* x, int* place, int* mirrored) {
  __shared__ cg::block_tile_memory<1024> memory;
  __shared__ int values[1024];
  auto block = cg::this_thread_block(memory);
  auto tile = cg::tiled_partition<Size>(block);
  int i = blockIdx.x * block.size() + block.thread_rank();
  int first = block.thread_rank() - tile.thread_rank(), value = x[i];
  for (int turn = 0; turn <= tile.meta_group_rank(); ++turn) {
    values[block.thread_rank()] = value + turn;
    tile.sync();
    value = values[first + tile.num_threads() - 1 - tile.thread_rank()];
    tile.sync();
  }
  mirrored[i] = value;
  place[i] = tile.meta_group_rank() * 1000000 + tile.meta_group_size() * 10000 +
             tile.thread_rank();
}

template <int Size>
__global__ void __launch_bounds__(1024)
    collectives(const int* x, int* sum, int* least, int* inclusive, int* exclusive,
                int* from, int* votes) {
  __shared__ cg::block_tile_memory<> memory;
  auto block = cg::this_thread_block(memory);
  auto tile = cg::tiled_partition<Size>(block);
  int i = blockIdx.x * block.size() + block.thread_rank();
  sum[i] = cg::reduce(tile, x[i], cg::plus<int>());
  least[i] = cg::reduce(tile, x[i], cg::less<int>());
  inclusive[i] = cg::inclusive_scan(tile, x[i]);
  exclusive[i] = cg::exclusive_scan(tile, x[i], cg::plus<int>());
  from[i] = tile.shfl(x[i], tile.meta_group_rank() + 40);
  votes[i] = tile.any(x[i] == 9) * 10 + tile.all(x[i] > 0);
}

// Sums of floats, and a product in double by an operation that is given.
extern "C" __global__ void reduce_floats(const float* x, float* sum, double* product) {
  auto tile = cg::tiled_partition<64>(cg::this_thread_block());
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  sum[i] = cg::reduce(tile, x[i], cg::plus<float>());
  product[i] = cg::reduce(tile, (double)x[i], [](double a, double b) { return a * b; });
}

// Tiles of tiles: each knows its place in its parent.
extern "C" __global__ void nested(const int* x, int* sums, int* places) {
  __shared__ cg::block_tile_memory<512> memory;
  auto block = cg::this_thread_block(memory);
  auto large = cg::tiled_partition<256>(block);
  auto small = cg::tiled_partition<64>(large);
  auto warp = cg::tiled_partition<32>(small);
  cg::thread_block_tile<4> four = cg::tiled_partition<4>(warp);
  int i = blockIdx.x * block.size() + block.thread_rank();
  int sum = cg::reduce(warp, x[i], cg::plus<int>());
  if (large.meta_group_rank() == 0) sum += cg::reduce(small, x[i], cg::plus<int>());
  sums[i] = sum + cg::reduce(large, x[i], cg::plus<int>());
  places[i] = small.meta_group_rank() * 1000 + small.meta_group_size() * 100 +
              warp.meta_group_rank() * 10 + warp.meta_group_size() +
              four.meta_group_rank() * 10000 + four.meta_group_size() * 100000;
}

// Each tile copies a row of its own and leaves the rest of the block alone.
extern "C" __global__ void copied_rows(const int* x, int* reversed, int* first) {
  __shared__ int rows[4][128];
  auto tile = cg::tiled_partition<128>(cg::this_thread_block());
  int* row = rows[tile.meta_group_rank()];
  size_t base = (blockIdx.x * tile.meta_group_size() + tile.meta_group_rank()) * 128;
  cg::memcpy_async(tile, row, 128, x + base, 128);
  cg::wait(tile);
  reversed[base + tile.thread_rank()] = row[127 - tile.thread_rank()];
  if (tile.thread_rank() == 0) first[base / 128] = row[0];
}
