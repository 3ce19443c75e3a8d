// heap.cc: the device heap: malloc and free inside kernels.
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <unordered_map>

#include "ffi/cpu/faults.h"
#include "ffi/cpu/symbols.h"

namespace jax_rawcuda {
namespace {

// The device heap's size, unless a program changes it.
constexpr uint64_t kHeapBytes = 8 << 20;

// What kernels have allocated; like the device heap it outlives launches.
struct Heap {
  std::mutex mutex;
  std::unordered_map<void*, uint64_t> live;  // address -> size
  uint64_t bytes = 0;
};

Heap& TheHeap() {
  static Heap* const heap = new Heap;  // leaked: a kernel may run during exit
  return *heap;
}

uint64_t jrc_malloc(uint64_t size) {
  const FaultShield shield;
  Heap& heap = TheHeap();
  const std::lock_guard<std::mutex> lock(heap.mutex);
  if (size == 0 || size > kHeapBytes - heap.bytes) return 0;
  void* const memory = std::malloc(size);
  if (memory == nullptr) return 0;
  heap.live.emplace(memory, size);
  heap.bytes += size;
  return reinterpret_cast<uint64_t>(memory);
}

// Ignores what jrc_malloc has not returned, so that no kernel can corrupt the process's
// own heap this way.
void jrc_free(uint64_t address) {
  const FaultShield shield;
  void* const memory = reinterpret_cast<void*>(address);
  Heap& heap = TheHeap();
  {
    const std::lock_guard<std::mutex> lock(heap.mutex);
    const auto found = heap.live.find(memory);
    if (found == heap.live.end()) return;
    heap.bytes -= found->second;
    heap.live.erase(found);
  }
  std::free(memory);
}

}  // namespace

void AppendHeap(SymbolTable& table) {
  table.insert(table.end(), {JRC_SYMBOL(jrc_malloc), JRC_SYMBOL(jrc_free)});
}

}  // namespace jax_rawcuda
