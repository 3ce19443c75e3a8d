// heap.cc: one arena, first fit; what it knows of its blocks lies elsewhere.
#include "ffi/cpu/helpers/heap.h"

#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>
#include <new>
#include <string>

#include "ffi/cpu/base/context.h"
#include "ffi/cpu/block/block.h"
#include "ffi/cpu/helpers/symbols.h"
#include "ffi/cpu/launch/faults.h"
#include "ffi/cpu/launch/launch_state.h"

namespace jax_rawcuda {
namespace {

// The device heap's size, unless a program changes it.
constexpr uint64_t kHeapBytes = 8 << 20;
constexpr uint64_t kAlignment = 16;
// Between the heap and the memory of others.
constexpr uint64_t kMargin = 64 << 10;

// What kernels have allocated; like the device heap it outlives launches. What it knows
// of its memory lies elsewhere, where a kernel that writes beside a block does not hit
// it.
class Heap {
 public:
  static Heap& Get() {
    static auto* const heap = new Heap;  // leaked: a kernel may run during exit
    return *heap;
  }

  // Returns 0 where there is no room.
  uint64_t Allocate(uint64_t size, uint64_t launch) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (size == 0 || size > kHeapBytes || !Reserve()) return 0;
    size = (size + kAlignment - 1) / kAlignment * kAlignment;
    for (auto range = free_.begin(); range != free_.end(); ++range) {
      const auto [begin, bytes] = *range;
      if (bytes < size) continue;
      free_.erase(range);
      if (bytes > size) free_.emplace(begin + size, bytes - size);
      live_.emplace(begin, Allocation{size, launch});
      return begin;
    }
    return 0;
  }

  // Returns false where Allocate has not returned the address, or it is free again.
  bool Free(uint64_t address) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = live_.find(address);
    if (found == live_.end()) return false;
    Free(found);
    return true;
  }

  void FreeAllOf(uint64_t launch) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (auto block = live_.begin(); block != live_.end();) {
      block = block->second.launch == launch ? Free(block) : std::next(block);
    }
  }

 private:
  struct Allocation {
    uint64_t size;
    uint64_t launch;
  };
  using Ranges = std::map<uint64_t, uint64_t>;  // begin -> size
  using Allocations = std::map<uint64_t, Allocation>;

  // Takes the memory when the first kernel asks for some.
  bool Reserve() {
    if (memory_ != nullptr) return true;
    memory_ = ::operator new(kHeapBytes + 2 * kMargin, std::align_val_t{kAlignment},
                             std::nothrow);
    if (memory_ == nullptr) return false;
    free_.emplace(reinterpret_cast<uint64_t>(memory_) + kMargin, kHeapBytes);
    return true;
  }

  // Returns the next one.
  Allocations::iterator Free(Allocations::iterator block) {
    auto here = free_.emplace(block->first, block->second.size).first;
    if (here != free_.begin()) here = Join(std::prev(here));
    Join(here);
    return live_.erase(block);
  }

  // Makes one of a free range and the next one where they touch; returns what `range`
  // ends up in, or the next one.
  Ranges::iterator Join(Ranges::iterator range) {
    const auto next = std::next(range);
    if (next == free_.end() || range->first + range->second != next->first) return next;
    range->second += next->second;
    free_.erase(next);
    return range;
  }

  std::mutex mutex_;
  void* memory_ = nullptr;
  Ranges free_;
  Allocations live_;
};

uint64_t jrc_malloc(Context* context, uint64_t size) {
  const FaultShield shield;
  return Heap::Get().Allocate(size, context->block->launch().id);
}

void jrc_free(Context* context, int32_t thread, uint64_t address) {
  const FaultShield shield;
  if (address == 0 || Heap::Get().Free(address)) return;
  context->faulted = 1;
  context->block->launch().Fail(
      "free of " + Hex(address) +
      ", which malloc has not returned or which is free "
      "already, by " +
      context->block->Describe(thread) +
      ". Call it under rc.checking() to see the source line.");
}

}  // namespace

void ReleaseAllocations(uint64_t launch) { Heap::Get().FreeAllOf(launch); }

void AppendHeap(SymbolTable& table) {
  table.insert(table.end(), {JRC_SYMBOL(jrc_malloc), JRC_SYMBOL(jrc_free)});
}

}  // namespace jax_rawcuda
