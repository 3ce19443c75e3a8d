// replay.h: replays a plan on a CUDA stream.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <variant>
#include <vector>

#include "ffi/base/error.h"
#include "ffi/cuda/driver.h"
#include "ffi/plan/image.h"
#include "ffi/plan/plan.h"

namespace jax_rawcuda {

// One executable's plan. Any number of threads may use it, each with its own stream.
class CudaReplay {
 public:
  CudaReplay(Plan plan, Images images);

  const Plan& plan() const { return plan_; }

  // Loads everything that Execute needs on the stream's device. Only the first call per
  // device does any work.
  Status Initialize(CUstream stream, int ordinal) {
    if (Find(ordinal) != nullptr) return Status();
    return Load(stream, ordinal);
  }

  // Safe while the stream is captured: no allocation, no lock, and driver calls on
  // `stream` only. `buffers` holds the addresses of operands, then of results; they are
  // advanced from one batch element to the next in place.
  Status Execute(CUstream stream, int ordinal, char** buffers) const;

 private:
  using Kernels = std::vector<CUkernel>;  // one per function
  // Where to find one kernel argument: constant bytes, or a place in a buffer.
  struct Slot {
    const void* scalar;  // null for a pointer
    uint32_t buffer;
    uint64_t offset;
  };
  // Everything about a launch that does not change from call to call.
  struct PreparedLaunch {
    const Launch* launch;
    CUlaunchConfig config;
    CUlaunchAttribute attributes[3];
    std::vector<Slot> slots;
  };
  struct PreparedCopy {
    Slot destination, source;
    uint64_t bytes;
  };
  struct PreparedFill {
    Slot destination;
    uint64_t count;
    uint8_t width;
    uint32_t value;
  };
  struct PreparedVerify {
    Slot begin;
    const Verify* verify;
  };
  using Step = std::variant<PreparedLaunch, PreparedCopy, PreparedFill, Synchronize,
                            PreparedVerify>;

  static constexpr int kFastOrdinals = 64;

  // One call on one device.
  struct Call {
    CUstream stream;
    const Kernels& kernels;
    char** buffers;
  };

  // The kernels of a device; null before it is initialized.
  const Kernels* Find(int ordinal) const;
  void Publish(int ordinal, Kernels kernels);
  Status Load(CUstream stream, int ordinal);

  Slot Locate(const BufferRef& ref) const;
  Step Prepare(const Launch& launch) const;
  Step Prepare(const Copy& copy) const;
  Step Prepare(const Fill& fill) const;
  Step Prepare(const Verify& verify) const {
    return PreparedVerify{Locate(verify.begin), &verify};
  }
  Step Prepare(const Synchronize& synchronize) const { return synchronize; }

  Status RunBatch(const Call& call) const;
  Status RunSteps(const Call& call) const;
  Status Run(const PreparedLaunch& step, const Call& call) const;
  Status Run(const PreparedCopy& step, const Call& call) const;
  Status Run(const PreparedFill& step, const Call& call) const;
  Status Run(const Synchronize& step, const Call& call) const;
  Status Run(const PreparedVerify& step, const Call& call) const;
  Status LaunchFailed(const PreparedLaunch& step, const Status& cause) const;
  Status WaitForDebugging(const std::string& what, CUstream stream) const;

  const Plan plan_;
  const Images images_;
  const bool debug_;
  bool needs_context_ = false;  // copies and fills take the current one
  std::vector<Step> steps_;
  mutable std::mutex mutex_;
  std::map<int, Kernels> kernels_;                        // by ordinal
  std::atomic<const Kernels*> near_[kFastOrdinals] = {};  // the same, without the lock
};

}  // namespace jax_rawcuda
