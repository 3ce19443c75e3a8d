// handwritten.cu: what one writes without jax_rawcuda, an XLA FFI handler that launches
// one kernel. benchmarks/launch_overhead.py builds it with nvcc and compares.
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
