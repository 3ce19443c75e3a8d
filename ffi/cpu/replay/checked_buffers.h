// checked_buffers.h: the buffers of a checked call, copied to memory of their own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ffi/base/error.h"
#include "ffi/cpu/base/aligned_buffer.h"
#include "ffi/cpu/check/access.h"
#include "ffi/cpu/check/launch.h"
#include "ffi/cpu/replay/replay.h"
#include "ffi/plan/plan.h"

namespace jax_rawcuda {

class CheckedBuffers {
 public:
  // The plan has labels.
  explicit CheckedBuffers(const Plan& plan);

  // Copies one batch element's buffers and puts the copies in their place. Contents
  // that are not defined become a pattern, NaN for floating-point types.
  Status Enter(std::vector<uint8_t*>& operands, std::vector<uint8_t*>& results);

  // Copies the results back to where Enter found them. An error if the plan has left
  // elements of a visible one unwritten.
  Status Leave();

  // The address that kernels get for a buffer: see kTagShift.
  uint64_t Tag(const BufferRef& ref, const uint8_t* address) const {
    return uint64_t{Index(ref) + 1} << kTagShift | reinterpret_cast<uint64_t>(address);
  }

  // The checks of one launch, with the buffers named after its parameters.
  std::unique_ptr<LaunchChecks> Launch(const HostKernel& kernel,
                                       const FunctionInfo& function,
                                       const ::jax_rawcuda::Launch& launch);

  // An error if a scalar is read from memory of which nothing has been written. Single
  // bytes may be missing: structs have padding.
  Status CheckScalars(const FunctionInfo& function,
                      const ::jax_rawcuda::Launch& launch) const;

  Status MarkFilled(const BufferRef& ref, uint64_t bytes);
  Status MarkCopied(const Copy& copy);

 private:
  size_t Index(const BufferRef& ref) const {
    return ref.space == Space::kOperand ? ref.index : operand_count_ + ref.index;
  }
  const BufferLabel& Label(size_t index) const {
    return index < operand_count_ ? labels_.operands[index]
                                  : labels_.results[index - operand_count_];
  }
  Status CheckWritten(size_t index) const;

  const Plan& plan_;
  const BufferLabels& labels_;
  const size_t operand_count_;
  std::vector<Span> spans_;            // operands, then results
  std::vector<AlignedBuffer> copies_;  //
  std::vector<std::unique_ptr<Shadow>> shadows_;
  std::vector<uint8_t*> originals_;      //
  std::vector<std::string> last_users_;  // kernels that got the buffer last
  std::vector<Span> globals_;
  std::vector<std::unique_ptr<Shadow>> global_shadows_;
  uint32_t now_ = 1;  // the time of fills and copies
};

}  // namespace jax_rawcuda
