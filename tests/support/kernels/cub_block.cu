// cub_block.cu: CUB's primitives of a block of 128 threads with 4 items each.
#include <cub/block/block_adjacent_difference.cuh>
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_shuffle.cuh>
#include <cub/block/block_store.cuh>

constexpr int kThreads = 128, kItems = 4, kTile = kThreads * kItems;

struct Longest {
  __device__ float operator()(float a, float b) const { return a < b ? b : a; }
};

extern "C" __global__ void reduce(const float* x, float* sum, float* most) {
  using Reduce = cub::BlockReduce<float, kThreads>;
  __shared__ typename Reduce::TempStorage storage;
  float items[kItems];
  cub::LoadDirectBlocked(threadIdx.x, x + blockIdx.x * kTile, items);
  float total = Reduce(storage).Sum(items);
  __syncthreads();
  float largest = Reduce(storage).Reduce(items, Longest());
  if (threadIdx.x == 0) {
    sum[blockIdx.x] = total;
    most[blockIdx.x] = largest;
  }
}

extern "C" __global__ void scan(const int* x, int* inclusive, int* exclusive,
                                int* total) {
  using Scan = cub::BlockScan<int, kThreads>;
  __shared__ typename Scan::TempStorage storage;
  int items[kItems], scanned[kItems], sum;
  cub::LoadDirectBlocked(threadIdx.x, x + blockIdx.x * kTile, items);
  Scan(storage).InclusiveSum(items, scanned);
  cub::StoreDirectBlocked(threadIdx.x, inclusive + blockIdx.x * kTile, scanned);
  __syncthreads();
  Scan(storage).ExclusiveSum(items, scanned, sum);
  cub::StoreDirectBlocked(threadIdx.x, exclusive + blockIdx.x * kTile, scanned);
  if (threadIdx.x == 0) total[blockIdx.x] = sum;
}

// Loads and stores of each kind, of a tile that is not full.
template <cub::BlockLoadAlgorithm Load, cub::BlockStoreAlgorithm Store>
__device__ void copy(const int* x, int* y, int n) {
  using BlockLoad = cub::BlockLoad<int, kThreads, kItems, Load>;
  using BlockStore = cub::BlockStore<int, kThreads, kItems, Store>;
  __shared__ union {
    typename BlockLoad::TempStorage load;
    typename BlockStore::TempStorage store;
  } storage;
  int items[kItems], valid = min(kTile, n - (int)blockIdx.x * kTile);
  BlockLoad(storage.load).Load(x + blockIdx.x * kTile, items, valid, -1);
  for (int i = 0; i < kItems; ++i) items[i] = items[i] * 10 + i;
  __syncthreads();
  BlockStore(storage.store).Store(y + blockIdx.x * kTile, items, valid);
}

#define COPY(NAME, ALGORITHM)                                                 \
  extern "C" __global__ void NAME(const int* x, int* y, int n) {              \
    copy<cub::BLOCK_LOAD_##ALGORITHM, cub::BLOCK_STORE_##ALGORITHM>(x, y, n); \
  }
COPY(copy_direct, DIRECT)
COPY(copy_vectorize, VECTORIZE)
COPY(copy_transpose, TRANSPOSE)
COPY(copy_striped, STRIPED)

extern "C" __global__ void radix_sort(const float* keys, const int* values,
                                      float* sorted_keys, int* sorted_values,
                                      float* descending) {
  using Sort = cub::BlockRadixSort<float, kThreads, kItems, int>;
  using SortKeys = cub::BlockRadixSort<float, kThreads, kItems>;
  __shared__ union {
    typename Sort::TempStorage pairs;
    typename SortKeys::TempStorage keys;
  } storage;
  float key[kItems];
  int value[kItems];
  cub::LoadDirectBlocked(threadIdx.x, keys + blockIdx.x * kTile, key);
  cub::LoadDirectBlocked(threadIdx.x, values + blockIdx.x * kTile, value);
  Sort(storage.pairs).Sort(key, value);
  cub::StoreDirectBlocked(threadIdx.x, sorted_keys + blockIdx.x * kTile, key);
  cub::StoreDirectBlocked(threadIdx.x, sorted_values + blockIdx.x * kTile, value);
  __syncthreads();
  SortKeys(storage.keys).SortDescendingBlockedToStriped(key);
  cub::StoreDirectStriped<kThreads>(threadIdx.x, descending + blockIdx.x * kTile, key);
}

struct Less {
  __device__ bool operator()(int a, int b) const { return a < b; }
};

extern "C" __global__ void merge_sort(const int* keys, int* sorted) {
  using Sort = cub::BlockMergeSort<int, kThreads, kItems>;
  __shared__ typename Sort::TempStorage storage;
  int key[kItems];
  cub::LoadDirectBlocked(threadIdx.x, keys + blockIdx.x * kTile, key);
  Sort(storage).Sort(key, Less());
  cub::StoreDirectBlocked(threadIdx.x, sorted + blockIdx.x * kTile, key);
}

template <cub::BlockHistogramAlgorithm Algorithm>
__device__ void histogram(const unsigned char* x, unsigned* bins) {
  using Histogram =
      cub::BlockHistogram<unsigned char, kThreads, kItems, 256, Algorithm>;
  __shared__ typename Histogram::TempStorage storage;
  __shared__ unsigned counts[256];
  unsigned char items[kItems];
  cub::LoadDirectStriped<kThreads>(threadIdx.x, x + blockIdx.x * kTile, items);
  Histogram(storage).Histogram(items, counts);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += kThreads)
    bins[blockIdx.x * 256 + i] = counts[i];
}

extern "C" __global__ void histogram_sort(const unsigned char* x, unsigned* bins) {
  histogram<cub::BLOCK_HISTO_SORT>(x, bins);
}
extern "C" __global__ void histogram_atomic(const unsigned char* x, unsigned* bins) {
  histogram<cub::BLOCK_HISTO_ATOMIC>(x, bins);
}

extern "C" __global__ void exchange(const int* x, int* striped, int* scattered,
                                    const int* ranks) {
  using Exchange = cub::BlockExchange<int, kThreads, kItems>;
  __shared__ typename Exchange::TempStorage storage;
  int items[kItems], moved[kItems], rank[kItems];
  cub::LoadDirectBlocked(threadIdx.x, x + blockIdx.x * kTile, items);
  cub::LoadDirectBlocked(threadIdx.x, ranks + blockIdx.x * kTile, rank);
  Exchange(storage).BlockedToStriped(items, moved);
  cub::StoreDirectBlocked(threadIdx.x, striped + blockIdx.x * kTile, moved);
  __syncthreads();
  Exchange(storage).ScatterToBlocked(items, moved, rank);
  cub::StoreDirectBlocked(threadIdx.x, scattered + blockIdx.x * kTile, moved);
}

struct Differs {
  __device__ bool operator()(int a, int b) const { return a != b; }
};
struct Difference {
  __device__ int operator()(int a, int b) const { return a - b; }
};

extern "C" __global__ void neighbours(const int* x, int* heads, int* tails, int* steps,
                                      int* next) {
  using Discontinuity = cub::BlockDiscontinuity<int, kThreads>;
  using Adjacent = cub::BlockAdjacentDifference<int, kThreads>;
  using Shuffle = cub::BlockShuffle<int, kThreads>;
  __shared__ union {
    typename Discontinuity::TempStorage flags;
    typename Adjacent::TempStorage differences;
    typename Shuffle::TempStorage shuffle;
  } storage;
  int items[kItems], head[kItems], tail[kItems], step[kItems];
  cub::LoadDirectBlocked(threadIdx.x, x + blockIdx.x * kTile, items);
  Discontinuity(storage.flags).FlagHeadsAndTails(head, tail, items, Differs());
  cub::StoreDirectBlocked(threadIdx.x, heads + blockIdx.x * kTile, head);
  cub::StoreDirectBlocked(threadIdx.x, tails + blockIdx.x * kTile, tail);
  __syncthreads();
  Adjacent(storage.differences).SubtractLeft(items, step, Difference());
  cub::StoreDirectBlocked(threadIdx.x, steps + blockIdx.x * kTile, step);
  __syncthreads();
  int shifted = -1;
  Shuffle(storage.shuffle).Offset(items[0], shifted, 1);
  next[blockIdx.x * kThreads + threadIdx.x] = shifted;
}
