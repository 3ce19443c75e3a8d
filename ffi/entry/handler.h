// handler.h: the XLA FFI handlers, as addresses for registration.
#pragma once

#include <string>

namespace jax_rawcuda {

// The stages of one target on one platform. There is no initialize stage: XLA would
// call it once per custom call in every execution.
struct Handlers {
  void* instantiate;
  void* execute;
};

// The type of the state that `instantiate` makes.
struct StateType {
  void* id;
  void* info;
};

struct ApiVersion {
  int major, minor;
};

ApiVersion XlaFfiApiVersion();
StateType CpuStateType();
Handlers CpuHandlers();

// What follows exists where JAX_RAWCUDA_CUDA is defined: where NVIDIA has drivers.
std::string DriverStatus();
StateType CudaStateType();
// `capturable`: XLA may record the calls in a CUDA graph.
Handlers CudaHandlers(bool capturable);

}  // namespace jax_rawcuda
