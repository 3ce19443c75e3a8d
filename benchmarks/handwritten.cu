// handwritten.cu: what one writes without jax_rawcuda: an XLA FFI handler that launches
// one kernel, and one that launches many. benchmarks/launch_overhead.py and
// benchmarks/session_launches.py build it with nvcc and compare.
#include <cuda_runtime.h>

#include <cstdint>

#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

__global__ void saxpy(const float* __restrict__ x,  // f32[n]
                      const float* __restrict__ y,  // f32[n]
                      float a,
                      float* __restrict__ out,  // f32[n]
                      long long n) {
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a * x[i] + y[i];
}

static ffi::Error Saxpy(cudaStream_t stream, float a, ffi::Buffer<ffi::F32> x,
                        ffi::Buffer<ffi::F32> y, ffi::ResultBuffer<ffi::F32> out) {
  const int64_t n = x.element_count();
  const int block = 256;
  const unsigned grid = static_cast<unsigned>((n + block - 1) / block);
  saxpy<<<grid, block, 0, stream>>>(x.typed_data(), y.typed_data(), a,
                                    out->typed_data(), n);
  const cudaError_t status = cudaGetLastError();
  if (status != cudaSuccess) return ffi::Error::Internal(cudaGetErrorString(status));
  return ffi::Error::Success();
}

XLA_FFI_DEFINE_HANDLER_SYMBOL(HandwrittenSaxpy, Saxpy,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::PlatformStream<cudaStream_t>>()
                                  .Attr<float>("a")
                                  .Arg<ffi::Buffer<ffi::F32>>()
                                  .Arg<ffi::Buffer<ffi::F32>>()
                                  .Ret<ffi::Buffer<ffi::F32>>(),
                              {ffi::Traits::kCmdBufferCompatible});

// XLA calls an initialize stage in every execution of a program, once per custom call.
// This empty one shows what that alone costs.
XLA_FFI_DEFINE_HANDLER_SYMBOL(
    HandwrittenInitialize, [] { return ffi::Error::Success(); },
    ffi::Ffi::BindInitialize());

// `count` launches in one call, each on the result of the one before.
static ffi::Error Chain(cudaStream_t stream, float a, int32_t count,
                        ffi::Buffer<ffi::F32> x, ffi::Buffer<ffi::F32> y,
                        ffi::ResultBuffer<ffi::F32> out,
                        ffi::ResultBuffer<ffi::F32> scratch) {
  const int64_t n = x.element_count();
  const int block = 256;
  const unsigned grid = static_cast<unsigned>((n + block - 1) / block);
  const float* from = x.typed_data();
  for (int32_t left = count; left > 0; --left) {
    float* to = left % 2 ? out->typed_data() : scratch->typed_data();
    saxpy<<<grid, block, 0, stream>>>(from, y.typed_data(), a, to, n);
    from = to;
  }
  const cudaError_t status = cudaGetLastError();
  if (status != cudaSuccess) return ffi::Error::Internal(cudaGetErrorString(status));
  return ffi::Error::Success();
}

XLA_FFI_DEFINE_HANDLER_SYMBOL(HandwrittenChain, Chain,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::PlatformStream<cudaStream_t>>()
                                  .Attr<float>("a")
                                  .Attr<int32_t>("count")
                                  .Arg<ffi::Buffer<ffi::F32>>()
                                  .Arg<ffi::Buffer<ffi::F32>>()
                                  .Ret<ffi::Buffer<ffi::F32>>()
                                  .Ret<ffi::Buffer<ffi::F32>>(),
                              {ffi::Traits::kCmdBufferCompatible});
