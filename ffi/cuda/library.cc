// library.cc: images as libraries of the driver, and checks of launches.
#include "ffi/cuda/library.h"

#include <cstdint>
#include <memory>
#include <utility>

#include "ffi/base/counters.h"
#include "ffi/base/text.h"

namespace jax_rawcuda {
namespace {

constexpr int kSharedWithoutOptIn = 48 * 1024;
constexpr uint64_t kPortableClusterBlocks = 8;

Status GetAttribute(CUdevice_attribute attribute, CUdevice device, int& value) {
  return Check(GetDriver().DeviceGetAttribute(&value, attribute, device),
               "cuDeviceGetAttribute");
}

Status GetAttribute(CUfunction_attribute attribute, CUkernel kernel,
                    const Device& device, int& value) {
  return Check(GetDriver().KernelGetAttribute(&value, attribute, kernel, device.handle),
               "cuKernelGetAttribute");
}

Status SetAttribute(CUfunction_attribute attribute, CUkernel kernel,
                    const Device& device, int value) {
  return Check(GetDriver().KernelSetAttribute(attribute, value, kernel, device.handle),
               "cuKernelSetAttribute");
}

struct Unload {
  void operator()(CUlibrary library) const {
    // At exit the driver may be gone before us: then there is nothing left to unload.
    static_cast<void>(GetDriver().LibraryUnload(library));
    ++GlobalCounters().library_unload;
  }
};

Result<std::shared_ptr<CUlib_st>> LoadLibrary(const Image& image) {
  CUlibrary handle = nullptr;
  RETURN_IF_ERROR(
      Check(GetDriver().LibraryLoadData(&handle, image.bytes().c_str(), nullptr,
                                        nullptr, 0, nullptr, nullptr, 0),
            "cuLibraryLoadData"));
  ++GlobalCounters().library_load;
  return std::shared_ptr<CUlib_st>(handle, Unload());
}

// A stream of its own: the caller's may be captured, and then records what is asked of
// it.
class OwnStream {
 public:
  OwnStream() {
    status_ = Check(GetDriver().StreamCreate(&stream_, CU_STREAM_NON_BLOCKING),
                    "cuStreamCreate");
  }
  ~OwnStream() {
    if (status_.ok()) GetDriver().StreamDestroy(stream_);
  }
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;

  const Status& status() const { return status_; }
  CUstream get() const { return stream_; }

 private:
  CUstream stream_ = nullptr;
  Status status_;
};

Status WriteVariables(const std::string& who, const Image& image, CUlibrary library) {
  if (image.variables().empty()) return Status();
  const Driver& driver = GetDriver();
  const OwnStream stream;
  RETURN_IF_ERROR(stream.status());
  for (const VariableValue& variable : image.variables()) {
    const std::string name = who + ": variable '" + variable.symbol + "'";
    CUdeviceptr address = 0;
    size_t bytes = 0;
    const CUresult found =
        driver.LibraryGetGlobal(&address, &bytes, library, variable.symbol.c_str());
    if (found == CUDA_ERROR_NOT_FOUND) {
      return InvalidArgument(name + " is not in the image. Check the name.");
    }
    Status status = Check(found, "cuLibraryGetGlobal");
    if (status.ok() && bytes != variable.bytes.size()) {
      return InvalidArgument(name + " has " + Str(bytes) +
                             " bytes in the image; its value has " +
                             Str(variable.bytes.size()) + ". Give as many.");
    }
    if (status.ok()) {
      status = Check(
          driver.MemcpyHtoDAsync(address, variable.bytes.data(), bytes, stream.get()),
          "cuMemcpyHtoDAsync");
    }
    if (!status.ok()) return Internal(name + ": " + status.message() + ".");
  }
  return Check(driver.StreamSynchronize(stream.get()), "cuStreamSynchronize");
}

Status DoesNotLoad(const Plan& plan, const FunctionInfo& function, const Image& image,
                   const Device& device, const Status& cause) {
  const bool cubin = plan.images[function.image].kind == ImageKind::kCubin;
  return FailedPrecondition(KernelName(plan, function) + ": its " +
                            (cubin ? "cubin (" : "PTX (") + Str(image.bytes().size()) +
                            " bytes) does not load on " + device.name + ": " +
                            cause.message() + ". Compile it for this device.");
}

// The driver reads as many bytes of each argument as the image says, not as many as the
// plan has.
Status CheckParameters(const Plan& plan, const FunctionInfo& function,
                       CUkernel kernel) {
  const auto get_info = GetDriver().KernelGetParamInfo;
  if (get_info == nullptr) return Status();
  const size_t count = function.parameters.size();
  for (size_t i = 0; i <= count; ++i) {
    size_t offset = 0, size = 0;
    const bool exists = get_info(kernel, i, &offset, &size) == CUDA_SUCCESS;
    const size_t expected = i < count ? function.parameters[i].size : 0;
    if ((exists ? size : 0) == expected) continue;
    return InvalidArgument(KernelName(plan, function) + ": parameter " + Str(i) +
                           " has " + Str(exists ? size : 0) +
                           " bytes in the image; the signature says " + Str(expected) +
                           ". Correct the signature.");
  }
  return Status();
}

Status CheckShared(const std::string& who, const Launch& launch, CUkernel kernel,
                   const Device& device) {
  int fixed = 0;
  RETURN_IF_ERROR(
      GetAttribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, kernel, device, fixed));
  const int64_t wanted = int64_t{launch.shared_mem_bytes} + fixed;
  if (wanted > device.max_shared_bytes) {
    return InvalidArgument(who + ": shared_mem_bytes=" + Str(launch.shared_mem_bytes) +
                           " and " + Str(fixed) +
                           " static bytes of shared memory per block requested; " +
                           device.name + " allows " + Str(device.max_shared_bytes) +
                           ". Lower shared_mem_bytes.");
  }
  if (wanted <= kSharedWithoutOptIn) return Status();
  // Always the device's limit, so that it does not matter which of several executables
  // comes last.
  return SetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, kernel, device,
                      device.max_shared_bytes - fixed);
}

Status CheckThreads(const std::string& who, const Launch& launch, CUkernel kernel,
                    const Device& device) {
  int limit = 0, registers = 0;
  RETURN_IF_ERROR(
      GetAttribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel, device, limit));
  RETURN_IF_ERROR(GetAttribute(CU_FUNC_ATTRIBUTE_NUM_REGS, kernel, device, registers));
  const uint64_t threads = Product(launch.block);
  if (threads <= static_cast<uint64_t>(limit)) return Status();
  return InvalidArgument(who + ": " + Str(threads) +
                         " threads per block requested; the kernel's " +
                         Str(registers) +
                         " registers per thread or its "
                         "__launch_bounds__ allow " +
                         Str(limit) + " on " + device.name + ". Lower block.");
}

Status CheckCooperative(const std::string& who, const Launch& launch, CUkernel kernel,
                        const Device& device) {
  CUfunction function = nullptr;
  int per_multiprocessor = 0;
  RETURN_IF_ERROR(
      Check(GetDriver().KernelGetFunction(&function, kernel), "cuKernelGetFunction"));
  RETURN_IF_ERROR(
      Check(GetDriver().MaxActiveBlocks(&per_multiprocessor, function,
                                        static_cast<int>(Product(launch.block)),
                                        launch.shared_mem_bytes),
            "cuOccupancyMaxActiveBlocksPerMultiprocessor"));
  const uint64_t limit =
      static_cast<uint64_t>(per_multiprocessor) * device.multiprocessors;
  if (Product(launch.grid) <= limit) return Status();
  return InvalidArgument(who + ": a cooperative launch of " +
                         Str(Product(launch.grid)) + " blocks requested; " +
                         device.name + " holds " + Str(limit) +
                         " at a time. Lower grid.");
}

}  // namespace

Result<Device> QueryDevice() {
  Device device;
  char name[256] = "";
  int major = 0, minor = 0;
  RETURN_IF_ERROR(Check(GetDriver().CtxGetDevice(&device.handle), "cuCtxGetDevice"));
  RETURN_IF_ERROR(Check(GetDriver().DeviceGetName(name, sizeof(name), device.handle),
                        "cuDeviceGetName"));
  RETURN_IF_ERROR(
      GetAttribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device.handle, major));
  RETURN_IF_ERROR(
      GetAttribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device.handle, minor));
  RETURN_IF_ERROR(GetAttribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device.handle,
                               device.multiprocessors));
  RETURN_IF_ERROR(GetAttribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
                               device.handle, device.max_shared_bytes));
  device.compute_capability = 10 * major + minor;
  device.name = std::string(name) + " (sm_" + Str(device.compute_capability) + ")";
  return device;
}

std::string KernelName(const Plan& plan, const FunctionInfo& function) {
  if (plan.op_name == function.display_name) return plan.op_name;
  return plan.op_name + ": kernel '" + function.display_name + "'";
}

Result<CUkernel> LoadKernel(const Plan& plan, const FunctionInfo& function,
                            Image& image, const Device& device) {
  if (plan.images[function.image].kind == ImageKind::kHostPtx) {
    return FailedPrecondition(KernelName(plan, function) +
                              ": compiled for the CPU, run on " + device.name +
                              ". Lower it for the cuda platform.");
  }
  // No lock is held: a load may wait for the device, which may wait for a kernel that
  // another thread has yet to launch. Two threads may both load; the second library is
  // dropped.
  std::shared_ptr<CUlib_st> library = image.library(device.handle);
  if (library == nullptr) {
    Result<std::shared_ptr<CUlib_st>> loaded = LoadLibrary(image);
    if (!loaded.ok()) {
      return DoesNotLoad(plan, function, image, device, loaded.status());
    }
    RETURN_IF_ERROR(
        WriteVariables(KernelName(plan, function), image, loaded.value().get()));
    library = image.Publish(device.handle, std::move(loaded.value()));
  }
  CUkernel kernel = nullptr;
  const CUresult found = GetDriver().LibraryGetKernel(&kernel, library.get(),
                                                      function.lowered_name.c_str());
  if (found == CUDA_ERROR_NOT_FOUND) {
    return InvalidArgument(KernelName(plan, function) + ": its image has no kernel '" +
                           function.lowered_name + "'. Check the name.");
  }
  CUfunction loaded = nullptr;  // asking for it ends the driver's lazy loading
  Status status = Check(found, "cuLibraryGetKernel");
  if (status.ok()) {
    status =
        Check(GetDriver().KernelGetFunction(&loaded, kernel), "cuKernelGetFunction");
  }
  if (!status.ok()) return DoesNotLoad(plan, function, image, device, status);
  RETURN_IF_ERROR(CheckParameters(plan, function, kernel));
  return kernel;
}

Status PrepareLaunch(const Plan& plan, const Launch& launch, CUkernel kernel,
                     const Device& device) {
  const std::string who = KernelName(plan, plan.functions[launch.function]);
  RETURN_IF_ERROR(CheckThreads(who, launch, kernel, device));
  RETURN_IF_ERROR(CheckShared(who, launch, kernel, device));
  const uint64_t cluster_blocks = Product(launch.cluster);
  if ((cluster_blocks != 0 || launch.programmatic) && device.compute_capability < 90) {
    return Unimplemented(who + ": clusters and programmatic dependent launch need " +
                         "sm_90 or newer; this device is " + device.name + ".");
  }
  if (cluster_blocks > kPortableClusterBlocks) {
    RETURN_IF_ERROR(SetAttribute(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
                                 kernel, device, 1));
  }
  if (!launch.cooperative) return Status();
  return CheckCooperative(who, launch, kernel, device);
}

}  // namespace jax_rawcuda
