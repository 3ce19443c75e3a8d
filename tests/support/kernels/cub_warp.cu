// cub_warp.cu: CUB's primitives of warps, and of half and quarter warps.
#include <cub/warp/warp_exchange.cuh>
#include <cub/warp/warp_load.cuh>
#include <cub/warp/warp_merge_sort.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
#include <cub/warp/warp_store.cuh>

constexpr int kThreads = 128;

// `valid` lanes of each logical warp take part in `partial`.
template <int Width>
__device__ void reduce(const int* x, int* sum, int* most, int* partial, int valid) {
  using Reduce = cub::WarpReduce<int, Width>;
  __shared__ typename Reduce::TempStorage storage[kThreads / Width];
  int warp = threadIdx.x / Width, i = blockIdx.x * kThreads + threadIdx.x;
  int total = Reduce(storage[warp]).Sum(x[i]);
  int largest =
      Reduce(storage[warp]).Reduce(x[i], [](int a, int b) { return a < b ? b : a; });
  int some = Reduce(storage[warp]).Sum(x[i], valid);
  if (threadIdx.x % Width != 0) return;
  sum[i / Width] = total;
  most[i / Width] = largest;
  partial[i / Width] = some;
}

template <int Width>
__device__ void scan(const double* x, double* inclusive, double* exclusive,
                     double* from_first) {
  using Scan = cub::WarpScan<double, Width>;
  __shared__ typename Scan::TempStorage storage[kThreads / Width];
  int warp = threadIdx.x / Width, i = blockIdx.x * kThreads + threadIdx.x;
  double before, after, first;
  Scan(storage[warp]).InclusiveSum(x[i], after);
  Scan(storage[warp]).ExclusiveSum(x[i], before);
  first = Scan(storage[warp]).Broadcast(x[i], 0);
  inclusive[i] = after;
  exclusive[i] = before;
  from_first[i] = x[i] - first;
}

struct Less {
  __device__ bool operator()(int a, int b) const { return a < b; }
};

template <int Width>
__device__ void merge_sort(const int* x, int* y) {
  constexpr int kItems = 4;
  using Load = cub::WarpLoad<int, kItems, cub::WARP_LOAD_TRANSPOSE, Width>;
  using Sort = cub::WarpMergeSort<int, kItems, Width>;
  using Store = cub::WarpStore<int, kItems, cub::WARP_STORE_TRANSPOSE, Width>;
  constexpr int kWarps = kThreads / Width;
  __shared__ typename Load::TempStorage load[kWarps];
  __shared__ typename Sort::TempStorage sort[kWarps];
  __shared__ typename Store::TempStorage store[kWarps];
  int warp = threadIdx.x / Width;
  int offset = (blockIdx.x * kWarps + warp) * Width * kItems;
  int items[kItems];
  Load(load[warp]).Load(x + offset, items);
  Sort(sort[warp]).Sort(items, Less());
  Store(store[warp]).Store(y + offset, items);
}

#define INSTANCES(WIDTH)                                                           \
  extern "C" __global__ void reduce_##WIDTH(const int* x, int* sum, int* most,     \
                                            int* partial, int valid) {             \
    reduce<WIDTH>(x, sum, most, partial, valid);                                   \
  }                                                                                \
  extern "C" __global__ void scan_##WIDTH(const double* x, double* inclusive,      \
                                          double* exclusive, double* from_first) { \
    scan<WIDTH>(x, inclusive, exclusive, from_first);                              \
  }                                                                                \
  extern "C" __global__ void merge_sort_##WIDTH(const int* x, int* y) {            \
    merge_sort<WIDTH>(x, y);                                                       \
  }
INSTANCES(32)
INSTANCES(16)
INSTANCES(8)
