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
  // `debug`: wait after each launch, and name the kernel that failed.
  CudaReplay(Plan plan, Images images, bool debug);

  const Plan& plan() const { return plan_; }

  // Loads everything that Execute needs on the device whose context is current, if one
  // is. What fails is left to Execute: the program may be meant for another device.
  void Preload();

  // Safe while the stream is captured: no allocation, no lock, and driver calls on
  // `stream` only, but for the first call on a device that Preload has not seen: that
  // one loads. `buffers` holds the addresses of operands, then of results.
  Status Execute(CUstream stream, int ordinal, char* const* buffers);

 private:
  using Kernels = std::vector<CUkernel>;  // one per function
  // Where to find one kernel argument: constant bytes, a place in a buffer, or the
  // number of the batch element that the launch begins with.
  struct Slot {
    ArgumentTag kind;
    const void* scalar;
    uint32_t buffer;
    uint64_t offset;
  };
  // From one batch element to the next, in bytes.
  struct Pitch {
    uint64_t destination = 0, source = 0;
  };
  // Everything about a launch that does not change from call to call.
  struct PreparedLaunch {
    const Launch* launch;
    CUlaunchConfig config;
    CUlaunchAttribute attributes[3];
    std::vector<Slot> slots;
    bool at_once;
  };
  struct PreparedCopy {
    Slot destination, source;
    uint64_t bytes;
    Pitch pitch;
    bool at_once;
  };
  struct PreparedFill {
    Slot destination;
    uint64_t count;
    uint8_t width;
    uint32_t value;
    Pitch pitch;
    bool at_once;
  };
  struct PreparedWait {
    bool at_once = true;
  };
  struct PreparedVerify {
    Slot begin;
    const Verify* verify;
    bool at_once = false;
  };
  // `at_once`: one driver call serves all batch elements of a piece.
  using Step = std::variant<PreparedLaunch, PreparedCopy, PreparedFill, PreparedWait,
                            PreparedVerify>;

  static constexpr int kFastOrdinals = 64;

  // One step on one device.
  struct Call {
    CUstream stream;
    const Kernels& kernels;
    char* const* buffers;  // of the first batch element, or as the step needs them
    uint64_t first = 0;    // batch element
    uint32_t count = 1;    // batch elements
  };

  // The kernels of a device; null before they are loaded.
  const Kernels* Find(int ordinal) const;
  const Kernels* Publish(int ordinal, Kernels kernels);
  // On the stream's device, or on that of the current context.
  Result<const Kernels*> Load(CUstream stream, int ordinal);
  Result<const Kernels*> LoadHere(int ordinal);

  Slot Locate(const BufferRef& ref) const;
  Step Prepare(const Launch& launch) const;
  Step Prepare(const Copy& copy) const;
  Step Prepare(const Fill& fill) const;
  Step Prepare(const Verify& verify) const {
    return PreparedVerify{Locate(verify.begin), &verify};
  }
  Step Prepare(const Synchronize&) const { return PreparedWait{}; }
  uint64_t PitchOf(const Slot& slot) const;

  Status RunAll(const Call& call) const;
  Status RunBatch(const Call& call) const;
  Status RunStep(const Step& step, const Call& call) const;
  Status Run(const PreparedLaunch& step, const Call& call) const;
  Status Run(const PreparedCopy& step, const Call& call) const;
  Status Run(const PreparedFill& step, const Call& call) const;
  Status Run(const PreparedWait& step, const Call& call) const;
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
