// heap.cc: malloc and free of checked kernels.
#include "ffi/cpu/check/heap.h"

#include <new>
#include <utility>

namespace jax_rawcuda {
namespace {

constexpr uint64_t kRedZone = 64;
constexpr uint64_t kAlignment = 16;
constexpr uint64_t kKeptBytes = uint64_t{64} << 20;
constexpr uint64_t kLargest = uint64_t{1} << 40;

}  // namespace

uint64_t CheckedHeap::Allocate(uint64_t size, uint64_t launch) {
  if (size == 0 || size > kLargest) return 0;
  std::unique_ptr<uint8_t[]> memory(new (std::nothrow)
                                        uint8_t[size + 2 * kRedZone + kAlignment]);
  if (memory == nullptr) return 0;
  const uint64_t begin =
      (reinterpret_cast<uint64_t>(memory.get()) + kRedZone + kAlignment - 1) /
      kAlignment * kAlignment;
  const std::lock_guard<std::mutex> lock(mutex_);
  auto shadow = std::make_unique<Shadow>(size);
  const Found place{begin, size, false, shadow.get()};
  allocations_[begin + size + kRedZone] = {place, std::move(memory), std::move(shadow),
                                           launch};
  return begin;
}

CheckedHeap::Freed CheckedHeap::Free(uint64_t address) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = allocations_.upper_bound(address);
  if (found == allocations_.end() || found->second.place.begin != address) {
    return Freed::kUnknown;
  }
  Found& allocation = found->second.place;
  if (allocation.freed) return Freed::kTwice;
  allocation.freed = true;
  freed_.push_back(found->first);
  freed_bytes_ += allocation.size;
  while (freed_bytes_ > kKeptBytes) {
    const auto oldest = allocations_.find(freed_.front());
    freed_bytes_ -= oldest->second.place.size;
    allocations_.erase(oldest);
    freed_.pop_front();
  }
  return Freed::kOk;
}

std::optional<CheckedHeap::Found> CheckedHeap::Find(uint64_t address, uint64_t launch) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = allocations_.upper_bound(address);
  if (found == allocations_.end()) return std::nullopt;
  Found place = found->second.place;
  if (address + kRedZone < place.begin) return std::nullopt;
  if (found->second.launch != launch) place.shadow = nullptr;
  return place;
}

}  // namespace jax_rawcuda
