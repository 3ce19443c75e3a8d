// launch.cc: memory that belongs to a launch, and conflicts that wait for a
// value.
#include "ffi/cpu/check/launch.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

namespace jax_rawcuda {

LaunchChecks::LaunchChecks(const std::vector<Span>& buffers, std::vector<Span> globals,
                           std::vector<Span> parameters, CheckedHeap& heap,
                           uint32_t& now)
    : buffers(buffers),
      heap(heap),
      order_(globals.size()),
      now_(now),
      parameters_(std::move(parameters)) {
  std::vector<size_t> sorted(globals.size());
  std::iota(sorted.begin(), sorted.end(), 0);
  std::sort(sorted.begin(), sorted.end(),
            [&](size_t a, size_t b) { return globals[a].begin < globals[b].begin; });
  for (const size_t index : sorted) {
    order_[index] = globals_.size();
    globals_.push_back(std::move(globals[index]));
  }
}

void LaunchChecks::Begin(LaunchState& launch) {
  launch_ = &launch;
  began_ = Tick();
  all_parameters_.what = "the kernel's parameters";
  all_parameters_.begin = reinterpret_cast<uint64_t>(launch.params.begin);
  all_parameters_.size = launch.kernel.parameter_bytes;
  all_parameters_.writable = false;
  for (Span& parameter : parameters_) parameter.begin += all_parameters_.begin;
  workspace_.what = "the words where the blocks of a grid meet";
  workspace_.begin = reinterpret_cast<uint64_t>(launch.grid_workspace);
  workspace_.size = sizeof(launch.grid_workspace);
}

const Span* LaunchChecks::FindGlobal(uint64_t address) const {
  const auto after = std::upper_bound(
      globals_.begin(), globals_.end(), address,
      [](uint64_t value, const Span& span) { return value < span.begin; });
  return after == globals_.begin() ? nullptr : &*std::prev(after);
}

Place LaunchChecks::FindOwn(uint64_t address) const {
  for (const Span* span : {&all_parameters_, &workspace_}) {
    const uint64_t offset = address - span->begin;
    if (offset < span->size) return {span, static_cast<int64_t>(offset)};
  }
  return {nullptr, 0};
}

Horizon LaunchChecks::Handed(uint64_t address, uint64_t block, bool in_block) const {
  Horizon handed;
  if (const auto own = in_blocks_.find(address); own != in_blocks_.end()) {
    if (const auto at = own->second.find(block); at != own->second.end()) {
      handed = at->second;
    }
  }
  if (in_block) return handed;
  if (const auto all = handed_.find(address); all != handed_.end()) {
    handed.Reach({all->second, 0});
  }
  return handed;
}

void LaunchChecks::HandOn(uint64_t address, uint64_t block, const Horizon& time,
                          uint32_t seen) {
  if (time.in_block == 0) return;
  in_blocks_[address][block].Reach({seen, time.in_block});
  if (time.anywhere == 0) return;
  uint32_t& all = handed_[address];
  all = std::max(all, time.anywhere);
}

void LaunchChecks::Defer(const Race& race) {
  const Access& access = race.access;
  Deferred deferred{race, {}};
  if (access.bytes > sizeof(deferred.value)) {
    ReportRace(race);
    return;
  }
  std::memcpy(deferred.value, reinterpret_cast<void*>(access.address & kAddressMask),
              access.bytes);
  deferred_ = deferred;
}

void LaunchChecks::Settle() {
  if (!deferred_) return;
  const Deferred deferred = *deferred_;
  deferred_.reset();
  const Access& access = deferred.race.access;
  if (std::memcmp(deferred.value,
                  reinterpret_cast<void*>(access.address & kAddressMask),
                  access.bytes) != 0) {
    ReportRace(deferred.race);
  }
}

}  // namespace jax_rawcuda
