// std.cu: cuda::std in kernels. One value per thread comes back.
#include <cuda/std/algorithm>
#include <cuda/std/array>
#include <cuda/std/atomic>
#include <cuda/std/bit>
#include <cuda/std/cmath>
#include <cuda/std/complex>
#include <cuda/std/functional>
#include <cuda/std/limits>
#include <cuda/std/mdspan>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/variant>

namespace std_ = cuda::std;

// No generic lambda: NVRTC 13.0 takes the instances of one for host functions.
struct AsFloat {
  template <typename T>
  __device__ float operator()(T value) const {
    return (float)value;
  }
};

extern "C" __global__ void values(const float* x, float* y) {
  int i = threadIdx.x;
  std_::array<float, 3> a{x[i], 2.0f, x[i] * x[i]};
  auto t = std_::make_tuple(a[0] + a[2], i);
  std_::optional<float> o;
  if (i & 1) o = a[1];
  std_::variant<int, float> v;
  if (i % 3) v = 0.5f;
  auto [sum, index] = t;
  y[i] = sum + o.value_or(7.0f) + index + std_::visit(AsFloat(), v);
}

extern "C" __global__ void complexes(const std_::complex<float>* z,
                                     std_::complex<float>* w) {
  std_::complex<float> c = z[threadIdx.x];
  w[threadIdx.x] =
      std_::exp(c) * std_::conj(c) / std_::complex<float>(2, 1) + std_::abs(c);
}

extern "C" __global__ void views(const float* x, float* y) {
  int i = threadIdx.x;
  std_::span<const float> all(x, 64);
  std_::mdspan<const float, std_::extents<int, 8, 8>> square(x);
  float sum = square(i % 8, i / 8);
  for (float v : all.subspan(i / 2, 3)) sum += v;
  float four[4] = {x[i], x[63 - i], 0.25f, -1.0f};
  float least = *std_::min_element(four, four + 4);
  float most = *std_::max_element(four, four + 4);
  y[i] = sum + 10 * most + 100 * std_::clamp(x[i], 0.0f, 0.5f) +
         std_::plus<float>{}(least, all.size());
}

extern "C" __global__ void numbers(const float* x, double* y) {
  __shared__ std_::atomic<int> count;
  int i = threadIdx.x;
  if (i == 0) count.store(0);
  __syncthreads();
  if (x[i] > 0) count.fetch_add(1, std_::memory_order_relaxed);
  __syncthreads();
  unsigned bits = std_::bit_cast<unsigned>(x[i]);
  y[i] = std_::popcount(bits) + 100 * std_::countl_zero(bits >> 3) +
         std_::rotl(bits & 255, 3) + std_::numeric_limits<int>::digits +
         std_::hypot((double)x[i], 3.0) + std_::fma((double)x[i], 2.0, 1.0) +
         count.load() + std_::isnan(x[i]);
}
