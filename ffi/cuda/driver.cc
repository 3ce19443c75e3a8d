// driver.cc: libcuda, opened on first use.
#include "ffi/cuda/driver.h"

#include <dlfcn.h>

#include <type_traits>

namespace jax_rawcuda {
namespace {

// The ABI of each entry point is that of this release, whatever the driver's own is.
constexpr int kAbi = 12000;
constexpr int kParamInfoAbi = 12040;

using GetProcAddress = CUresult (*)(const char*, void**, int, cuuint64_t,
                                    CUdriverProcAddressQueryResult*);

template <typename Function>
bool Find(GetProcAddress get, const char* name, Function& function, int abi = kAbi) {
  void* address = nullptr;
  CUdriverProcAddressQueryResult found;
  const CUresult result = get(name, &address, abi, CU_GET_PROC_ADDRESS_DEFAULT, &found);
  function = reinterpret_cast<Function>(address);
  return result == CUDA_SUCCESS && address != nullptr;
}

constexpr char kLibrary[] = "libcuda.so.1";

// Whether somebody in this process has loaded the driver.
bool IsLoaded() {
  void* const library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  if (library != nullptr) dlclose(library);
  return library != nullptr;
}

std::string Open(Driver& driver) {
  void* library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return "The CUDA driver cannot be loaded (" + std::string(dlerror()) +
           "). Install the NVIDIA driver, or run on the CPU.";
  }
  const auto get =
      reinterpret_cast<GetProcAddress>(dlsym(library, "cuGetProcAddress_v2"));
  if (get == nullptr) return "The CUDA driver is older than CUDA 12. Upgrade it.";
  std::string missing;
  const auto find = [&](const char* name, auto& function) {
    if (!Find(get, name, function)) missing += std::string(" ") + name;
  };
  find("cuInit", driver.Init);
  find("cuGetErrorName", driver.GetErrorName);
  find("cuGetErrorString", driver.GetErrorString);
  find("cuCtxGetCurrent", driver.CtxGetCurrent);
  find("cuCtxGetDevice", driver.CtxGetDevice);
  find("cuCtxPopCurrent", driver.CtxPopCurrent);
  find("cuCtxPushCurrent", driver.CtxPushCurrent);
  find("cuDeviceGetAttribute", driver.DeviceGetAttribute);
  find("cuDeviceGetName", driver.DeviceGetName);
  find("cuDevicePrimaryCtxGetState", driver.DevicePrimaryCtxGetState);
  find("cuDevicePrimaryCtxRelease", driver.DevicePrimaryCtxRelease);
  find("cuDevicePrimaryCtxRetain", driver.DevicePrimaryCtxRetain);
  find("cuKernelGetAttribute", driver.KernelGetAttribute);
  find("cuKernelGetFunction", driver.KernelGetFunction);
  find("cuKernelSetAttribute", driver.KernelSetAttribute);
  find("cuLaunchKernelEx", driver.LaunchKernelEx);
  find("cuLibraryGetGlobal", driver.LibraryGetGlobal);
  find("cuLibraryGetKernel", driver.LibraryGetKernel);
  find("cuLibraryLoadData", driver.LibraryLoadData);
  find("cuLibraryUnload", driver.LibraryUnload);
  find("cuMemcpy2DAsync", driver.Memcpy2DAsync);
  find("cuMemcpyDtoDAsync", driver.MemcpyDtoDAsync);
  find("cuMemcpyDtoHAsync", driver.MemcpyDtoHAsync);
  find("cuMemcpyHtoDAsync", driver.MemcpyHtoDAsync);
  find("cuMemsetD16Async", driver.MemsetD16Async);
  find("cuMemsetD32Async", driver.MemsetD32Async);
  find("cuMemsetD2D16Async", driver.MemsetD2D16Async);
  find("cuMemsetD2D32Async", driver.MemsetD2D32Async);
  find("cuMemsetD2D8Async", driver.MemsetD2D8Async);
  find("cuMemsetD8Async", driver.MemsetD8Async);
  find("cuOccupancyMaxActiveBlocksPerMultiprocessor", driver.MaxActiveBlocks);
  find("cuStreamCreate", driver.StreamCreate);
  find("cuStreamDestroy", driver.StreamDestroy);
  find("cuStreamGetCtx", driver.StreamGetCtx);
  find("cuStreamIsCapturing", driver.StreamIsCapturing);
  find("cuStreamSynchronize", driver.StreamSynchronize);
  find("cuThreadExchangeStreamCaptureMode", driver.ThreadExchangeStreamCaptureMode);
  if (!missing.empty()) return "The CUDA driver lacks" + missing + ". Upgrade it.";
  if (!Find(get, "cuKernelGetParamInfo", driver.KernelGetParamInfo, kParamInfoAbi)) {
    driver.KernelGetParamInfo = nullptr;
  }
  return "";
}

std::string Describe(const Driver& driver, CUresult result, const char* call) {
  const char* name = nullptr;
  const char* text = nullptr;
  if (driver.GetErrorName != nullptr) driver.GetErrorName(result, &name);
  if (driver.GetErrorString != nullptr) driver.GetErrorString(result, &text);
  const std::string number = "CUDA error " + std::to_string(result);
  return std::string(call) + " failed: " + (name != nullptr ? name : number) + " (" +
         (text != nullptr ? text : "unknown to this driver") + ")";
}

}  // namespace

const Driver& GetDriver() {
  static const Driver* const instance = [] {
    auto* driver = new Driver();  // leaked: destructors use it at exit
    driver->error = Open(*driver);
    if (driver->error.empty()) {
      const CUresult result = driver->Init(0);
      if (result != CUDA_SUCCESS) driver->error = Describe(*driver, result, "cuInit");
    }
    return driver;
  }();
  return *instance;
}

Status Check(CUresult result, const char* call) {
  if (result == CUDA_SUCCESS) return Status();
  return Internal(Describe(GetDriver(), result, call));
}

std::optional<CUdevice> CurrentDevice() {
  if (!IsLoaded() || !GetDriver().error.empty()) return std::nullopt;
  const Driver& driver = GetDriver();
  CUcontext current = nullptr;
  CUdevice device;
  if (driver.CtxGetCurrent(&current) != CUDA_SUCCESS || current == nullptr ||
      driver.CtxGetDevice(&device) != CUDA_SUCCESS) {
    return std::nullopt;
  }
  unsigned int flags;
  int active = 0;  // asking for a context that is not would make it
  if (driver.DevicePrimaryCtxGetState(device, &flags, &active) != CUDA_SUCCESS ||
      active == 0) {
    return std::nullopt;
  }
  CUcontext primary = nullptr;
  if (driver.DevicePrimaryCtxRetain(&primary, device) != CUDA_SUCCESS) {
    return std::nullopt;
  }
  driver.DevicePrimaryCtxRelease(device);
  return primary == current ? std::optional<CUdevice>(device) : std::nullopt;
}

void CaptureExemption::Exchange() {
  GetDriver().ThreadExchangeStreamCaptureMode(&mode_);
}

ContextScope::ContextScope(CUstream stream) {
  const Driver& driver = GetDriver();
  CUcontext context = nullptr;
  status_ = Check(driver.StreamGetCtx(stream, &context), "cuStreamGetCtx");
  if (status_.ok()) {
    status_ = Check(driver.CtxPushCurrent(context), "cuCtxPushCurrent");
  }
}

ContextScope::~ContextScope() {
  CUcontext context;
  if (status_.ok()) GetDriver().CtxPopCurrent(&context);
}

}  // namespace jax_rawcuda
