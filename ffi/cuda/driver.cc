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

std::string Open(Driver& driver) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
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
  find("cuCtxGetDevice", driver.CtxGetDevice);
  find("cuCtxPopCurrent", driver.CtxPopCurrent);
  find("cuCtxPushCurrent", driver.CtxPushCurrent);
  find("cuDeviceGetAttribute", driver.DeviceGetAttribute);
  find("cuDeviceGetName", driver.DeviceGetName);
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
  find("cuStreamGetCtx", driver.StreamGetCtx);
  find("cuStreamIsCapturing", driver.StreamIsCapturing);
  find("cuStreamSynchronize", driver.StreamSynchronize);
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
