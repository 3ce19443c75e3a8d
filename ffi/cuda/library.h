// library.h: loading of images into the driver, and one device's limits on launches.
#pragma once

#include <string>

#include "ffi/base/error.h"
#include "ffi/cuda/driver.h"
#include "ffi/plan/image.h"
#include "ffi/plan/plan.h"

namespace jax_rawcuda {

struct Device {
  CUdevice handle;
  std::string name;  // "NVIDIA H200 (sm_90)"
  int compute_capability;
  int multiprocessors;
  int max_shared_bytes;  // per block, static and dynamic, after opting in
};

// The device of the current context.
Result<Device> QueryDevice();

// "rms_norm: kernel 'row_scale'", or "saxpy" where op and kernel have one name.
std::string KernelName(const Plan& plan, const FunctionInfo& function);

// Loads the kernel and its image on the device of the current context, and checks its
// parameters against the driver's. When the image is new there, gives its variables
// their values, and waits for that.
Result<CUkernel> LoadKernel(const Plan& plan, const FunctionInfo& function,
                            Image& image, const Device& device);

// Checks a launch against the limits of the device, and raises those that the driver
// wants to be asked for.
Status PrepareLaunch(const Plan& plan, const Launch& launch, CUkernel kernel,
                     const Device& device);

}  // namespace jax_rawcuda
