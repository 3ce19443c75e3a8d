// find.cc: which memory an address belongs to.
#include <optional>

#include "ffi/cpu/check/block.h"

namespace jax_rawcuda {
namespace {

// Of spans in order, the one that has `offset`, or else the nearest.
Place Nearest(const std::vector<Span>& spans, int64_t offset) {
  Place best{nullptr, 0};
  int64_t least = INT64_MAX;
  for (const Span& span : spans) {
    const int64_t inside = offset - static_cast<int64_t>(span.begin);
    const auto size = static_cast<int64_t>(span.size);
    const int64_t distance = inside < 0      ? -inside
                             : inside < size ? 0
                                             : inside - size + 1;
    // Of two equally near ones the first: indices run over the end more often.
    if (distance < least) {
      least = distance;
      best = {&span, inside};
    }
  }
  return best;
}

}  // namespace

Place BlockChecks::Find(const Access& access) {
  const uint64_t address = access.address & kAddressMask;
  const auto shared = reinterpret_cast<uint64_t>(context_.shared);
  const auto& origins = state_.kernel.origins;
  if (access.site < origins.size() && origins[access.site] != 0) {
    return FromOrigin(access, origins[access.site] - 1);
  }
  if (TagOf(access.address) == 0) {
    const Place place = FindInCluster(address);
    if (place.span != nullptr) return place;
  }
  if (access.has(kSharedSpace)) {
    // Negative offsets come as large 32-bit ones.
    return FindShared(static_cast<int32_t>(access.address - shared));
  }
  if (const uint32_t tag = TagOf(access.address); tag != 0) {
    if (tag > launch_.buffers.size()) return {nullptr, 0};
    const Span& span = launch_.buffers[tag - 1];
    return {&span, static_cast<int64_t>(address - span.begin)};
  }
  if (address - shared <= context_.total_shared) {
    return FindShared(static_cast<int64_t>(address - shared));
  }
  const auto local = reinterpret_cast<uint64_t>(context_.local);
  const auto frames =
      static_cast<uint64_t>(state_.kernel.frame_bytes) * context_.thread_count;
  if (address - local < frames) return FindLocal(access, address - local);
  for (const Span& span : stack_) {
    if (address - span.begin < span.size) {
      return {&span, static_cast<int64_t>(address - span.begin)};
    }
  }
  if (const Place own = launch_.FindOwn(address); own.span != nullptr) return own;
  if (const Place heap = FindHeap(access); heap.span != nullptr) return heap;
  const Span* const global = launch_.FindGlobal(address);
  constexpr uint64_t kNear = 4096;
  if (global == nullptr || address - global->begin > global->size + kNear) {
    return {nullptr, 0};
  }
  return {global, static_cast<int64_t>(address - global->begin)};
}

// The code computes the address from that of a variable: whatever lies there, that one
// is meant.
Place BlockChecks::FromOrigin(const Access& access, uint32_t variable) const {
  uint64_t base = reinterpret_cast<uint64_t>(context_.shared);
  const Span* span = nullptr;
  if (variable < shared_.size()) {
    span = &shared_[variable];
  } else if ((variable -= static_cast<uint32_t>(shared_.size())) < local_.size()) {
    span = &local_[variable];
    base = reinterpret_cast<uint64_t>(context_.local) +
           uint64_t{access.thread} * static_cast<uint64_t>(state_.kernel.frame_bytes);
  } else {
    variable -= static_cast<uint32_t>(local_.size());
    const size_t globals = launch_.global_count();
    base = 0;
    span = variable < globals ? launch_.global(variable)
                              : launch_.parameter(variable - globals);
  }
  const uint64_t offset = access.address - base;
  // Negative offsets come as large 32-bit ones.
  const auto inside = access.has(kSharedSpace) ? static_cast<int32_t>(offset)
                                               : static_cast<int64_t>(offset);
  return {span, inside - static_cast<int64_t>(span->begin)};
}

// Shared memory of another block of the cluster.
Place BlockChecks::FindInCluster(uint64_t address) const {
  const std::optional<Surroundings::Neighbour> found =
      surroundings_.NeighbourAt(address);
  if (!found) return {nullptr, 0};
  return found->checks->FindShared(static_cast<int64_t>(address - found->shared));
}

Place BlockChecks::FindShared(int64_t offset) const { return Nearest(shared_, offset); }

Place BlockChecks::FindLocal(const Access& access, uint64_t offset) {
  const auto frame = static_cast<uint64_t>(state_.kernel.frame_bytes);
  const uint64_t owner = offset / frame;
  const auto distance =
      static_cast<int64_t>(owner) - static_cast<int64_t>(access.thread);
  // An index that reaches another thread's frame counts from the own one.
  return Nearest(local_, static_cast<int64_t>(offset % frame) +
                             distance * static_cast<int64_t>(frame));
}

Place BlockChecks::FindHeap(const Access& access) {
  const uint64_t address = access.address & kAddressMask;
  const std::optional<CheckedHeap::Found> found = launch_.heap.Find(address, state_.id);
  if (!found) return {nullptr, 0};
  Span& span = heap_[found->begin];
  if (span.size != found->size) {
    span.what = "memory from malloc (" + std::to_string(found->size) + " bytes)";
  }
  span.begin = found->begin;
  span.size = found->size;
  span.shadow = found->shadow;
  span.initialized = span.shadow == nullptr;
  const Place place{&span, static_cast<int64_t>(address - found->begin)};
  if (!found->freed) return place;
  launch_.ReportFreed(access, place, block_);
  return {nullptr, 0};
}

}  // namespace jax_rawcuda
