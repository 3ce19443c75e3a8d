// access.h: one access to memory by generated code, and the memory it may touch.
#pragma once

#include <cstdint>
#include <string>

#include "ffi/cpu/check/shadow.h"

namespace jax_rawcuda {

// What an access does; jax_rawcuda/cpu/check/actions.py mirrors the numbers.
enum AccessFlags : uint32_t {
  kReads = 1,
  kWrites = 2,
  kAtomic = 4,    // or volatile: conflicts with plain accesses only
  kAcquires = 8,  // what others have handed on through this address
  kReleases = 16,
  kSharedSpace = 32,  // the instruction names shared memory
  kAsync = 64,        // done by the hardware later: an mbarrier orders it
  kUnused = 128,      // what nobody has written may be read
  // Bits 8 to 15: log2 of the alignment.
  kBlockScope = 1 << 16,  // atomic for, and seen by, threads of the block only
  kGuess = 1 << 17,       // an atomic operation verifies what is read
  // Bits 18 to 31: the number of a load whose value is only stored again, in the flags
  // of the load and of the store.
};
inline constexpr uint32_t kCopyShift = 18;
inline constexpr uint32_t kAlignmentShift = 8;
inline constexpr uint32_t kAlignmentMask = 255;

struct Access {
  uint64_t address;  // with the tag of its buffer
  uint64_t bytes;
  uint32_t flags;
  uint32_t thread;
  uint32_t site;

  bool has(uint32_t flag) const { return (flags & flag) != 0; }
  uint32_t copy() const { return flags >> kCopyShift; }
  uint64_t alignment() const {
    return uint64_t{1} << (flags >> kAlignmentShift & kAlignmentMask);
  }
};

// Addresses of the call's buffers carry the buffer's number above their 48 bits, so
// that an index which leaves the buffer still tells where it came from.
inline constexpr uint32_t kTagShift = 48;
inline constexpr uint64_t kAddressMask = (uint64_t{1} << kTagShift) - 1;

inline uint32_t TagOf(uint64_t address) {
  return static_cast<uint32_t>(address >> kTagShift);
}

// A piece of memory that a kernel may name.
struct Span {
  std::string what;  // "argument 'x' (float32[8])", for messages
  uint64_t begin = 0;
  uint64_t size = 0;
  uint32_t item_bytes = 0;  // of one element, 0: as wide as the access
  bool writable = true;
  bool initialized = true;
  bool per_block = false;    // each block begins with its contents undefined
  bool dynamic = false;      // the launch says how large it is
  Shadow* shadow = nullptr;  // null: neither contents nor races are followed
};

// Where an access goes: a byte of a span, which may lie outside of it.
struct Place {
  const Span* span;
  int64_t offset;
};

// A read of what nothing has written.
struct Unwritten {
  Access access;
  Place place;
};

}  // namespace jax_rawcuda
