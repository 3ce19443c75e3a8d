// tags.h: the numbers in a plan's bytes; jax_rawcuda/_plan/tags.py has the same.
#pragma once

#include <cstdint>

namespace jax_rawcuda {

inline constexpr uint32_t kPlanMagic = 0x3143524A;    // "JRC1", before everything
inline constexpr uint32_t kLabelsMagic = 0x314B4843;  // "CHK1", before the labels

enum class CommandTag : uint8_t {
  kLaunch = 1,
  kCopy = 2,
  kFill = 3,
  kSynchronize = 4,
  kVerify = 5,
};

enum class ArgumentTag : uint8_t {
  kPointer = 0,  // an address
  kScalar = 1,   // bytes that the plan holds
  kDynamic = 2,  // bytes that a buffer holds, for the handler to read: on the CPU
  kStart = 3,    // number of the batch element that a launch begins with, 64 bits
};

// Which of the call's buffers an index counts in.
enum class Space : uint8_t { kOperand = 0, kResult = 1 };

enum class ImageKind : uint8_t { kCubin = 1, kPtx = 2, kHostPtx = 3 };

// Bits beside an image's kind.
enum class ImageFlag : uint8_t { kHasVariables = 0x80 };

enum class LaunchFlag : uint32_t {
  kCooperative = 1,
  kProgrammatic = 2,
  kAtOnce = 4,  // one launch serves all batch elements of a piece
};

// What is known of a buffer of a checked plan.
enum class BufferState : uint8_t { kInitialized = 1, kVisible = 2, kReadOnly = 4 };

// Whether `bits` has the flag.
template <typename Bits, typename Flag>
constexpr bool Has(Bits bits, Flag flag) {
  return (bits & static_cast<Bits>(flag)) != 0;
}

}  // namespace jax_rawcuda
