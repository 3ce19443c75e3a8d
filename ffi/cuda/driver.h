// driver.h: the CUDA driver's entry points, found at run time; nothing is linked.
#pragma once

#include <cuda.h>

#include <optional>
#include <string>

#include "ffi/base/error.h"

namespace jax_rawcuda {

struct Driver {
  std::string error;  // why the driver cannot be used; empty when it can

  decltype(&::cuInit) Init = nullptr;
  decltype(&::cuGetErrorName) GetErrorName = nullptr;
  decltype(&::cuGetErrorString) GetErrorString = nullptr;
  decltype(&::cuCtxGetCurrent) CtxGetCurrent = nullptr;
  decltype(&::cuCtxGetDevice) CtxGetDevice = nullptr;
  decltype(&::cuCtxPopCurrent) CtxPopCurrent = nullptr;
  decltype(&::cuCtxPushCurrent) CtxPushCurrent = nullptr;
  decltype(&::cuDeviceGetAttribute) DeviceGetAttribute = nullptr;
  decltype(&::cuDeviceGetName) DeviceGetName = nullptr;
  decltype(&::cuDevicePrimaryCtxGetState) DevicePrimaryCtxGetState = nullptr;
  decltype(&::cuDevicePrimaryCtxRelease) DevicePrimaryCtxRelease = nullptr;
  decltype(&::cuDevicePrimaryCtxRetain) DevicePrimaryCtxRetain = nullptr;
  decltype(&::cuKernelGetAttribute) KernelGetAttribute = nullptr;
  decltype(&::cuKernelGetFunction) KernelGetFunction = nullptr;
  decltype(&::cuKernelSetAttribute) KernelSetAttribute = nullptr;
  decltype(&::cuLaunchKernelEx) LaunchKernelEx = nullptr;
  decltype(&::cuLibraryGetGlobal) LibraryGetGlobal = nullptr;
  decltype(&::cuLibraryGetKernel) LibraryGetKernel = nullptr;
  decltype(&::cuLibraryLoadData) LibraryLoadData = nullptr;
  decltype(&::cuLibraryUnload) LibraryUnload = nullptr;
  decltype(&::cuMemcpy2DAsync) Memcpy2DAsync = nullptr;
  decltype(&::cuMemcpyDtoDAsync) MemcpyDtoDAsync = nullptr;
  decltype(&::cuMemcpyDtoHAsync) MemcpyDtoHAsync = nullptr;
  decltype(&::cuMemcpyHtoDAsync) MemcpyHtoDAsync = nullptr;
  decltype(&::cuMemsetD16Async) MemsetD16Async = nullptr;
  decltype(&::cuMemsetD32Async) MemsetD32Async = nullptr;
  decltype(&::cuMemsetD2D16Async) MemsetD2D16Async = nullptr;
  decltype(&::cuMemsetD2D32Async) MemsetD2D32Async = nullptr;
  decltype(&::cuMemsetD2D8Async) MemsetD2D8Async = nullptr;
  decltype(&::cuMemsetD8Async) MemsetD8Async = nullptr;
  decltype(&::cuOccupancyMaxActiveBlocksPerMultiprocessor) MaxActiveBlocks = nullptr;
  decltype(&::cuStreamCreate) StreamCreate = nullptr;
  decltype(&::cuStreamDestroy) StreamDestroy = nullptr;
  decltype(&::cuStreamGetCtx) StreamGetCtx = nullptr;
  decltype(&::cuStreamIsCapturing) StreamIsCapturing = nullptr;
  decltype(&::cuStreamSynchronize) StreamSynchronize = nullptr;
  decltype(&::cuThreadExchangeStreamCaptureMode) ThreadExchangeStreamCaptureMode =
      nullptr;

  decltype(&::cuKernelGetParamInfo) KernelGetParamInfo = nullptr;  // null before 12.4
};

// Loads libcuda on the first call.
const Driver& GetDriver();

// "cuLaunchKernelEx failed: CUDA_ERROR_INVALID_VALUE (invalid argument)", or OK.
Status Check(CUresult result, const char* call);

// The device whose primary context, in which XLA works, is current on this thread. Does
// not load the driver: a process that only compiles for CUDA has no use for it.
std::optional<CUdevice> CurrentDevice();

// While it lives, this thread may make calls that a capture of a stream forbids, such
// as to load a module; they do not become part of what is captured.
class CaptureExemption {
 public:
  CaptureExemption() { Exchange(); }
  ~CaptureExemption() { Exchange(); }
  CaptureExemption(const CaptureExemption&) = delete;
  CaptureExemption& operator=(const CaptureExemption&) = delete;

 private:
  void Exchange();

  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;  // then the thread's own
};

// Makes the stream's context current for the life of the scope.
class ContextScope {
 public:
  explicit ContextScope(CUstream stream);
  ~ContextScope();
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

  const Status& status() const { return status_; }

 private:
  Status status_;
};

}  // namespace jax_rawcuda
