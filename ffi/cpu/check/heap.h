// heap.h: malloc and free of checked kernels.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "ffi/cpu/check/shadow.h"

namespace jax_rawcuda {

// Freed memory is kept for a while, so that late accesses are seen for what they are.
// Like the device heap it outlives launches.
class CheckedHeap {
 public:
  struct Found {
    uint64_t begin;
    uint64_t size;
    bool freed;
    Shadow* shadow;  // null if an earlier launch has allocated it
  };
  enum class Freed { kOk, kTwice, kUnknown };

  // Of memory of the launch with this number.
  uint64_t Allocate(uint64_t size, uint64_t launch);
  Freed Free(uint64_t address);

  // The allocation that `address` lies in, or in a red zone of.
  std::optional<Found> Find(uint64_t address, uint64_t launch);

 private:
  struct Allocation {
    Found place;
    std::unique_ptr<uint8_t[]> memory;  // with a red zone on both sides
    std::unique_ptr<Shadow> shadow;
    uint64_t launch;
  };

  std::mutex mutex_;
  std::map<uint64_t, Allocation> allocations_;  // by the end of their red zone
  std::deque<uint64_t> freed_;                  // keys, oldest first
  uint64_t freed_bytes_ = 0;
};

}  // namespace jax_rawcuda
