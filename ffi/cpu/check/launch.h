// launch.h: what the checks of one launch share: its memory, its clock, its
// report.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ffi/cpu/check/access.h"
#include "ffi/cpu/check/clock.h"
#include "ffi/cpu/check/heap.h"
#include "ffi/cpu/launch/launch_state.h"

namespace jax_rawcuda {

// Begins what a checked launch reports, after the kernel's name.
inline constexpr char kCheckFailed[] = "check failed: ";

// Two accesses that nothing orders.
struct Race {
  Access access;
  Place place;
  Mark other;      // the earlier one
  uint64_t block;  // of the access
  // The barrier where the other thread waits and that this one has gone past.
  std::optional<size_t> skipped;
};

// One host thread runs a checked launch, so nothing here is locked.
class LaunchChecks {
 public:
  // `buffers` has one span per buffer of the call, in the order of their tags; `now`
  // goes on counting over the launches of a call. Parameters begin at their offsets.
  LaunchChecks(const std::vector<Span>& buffers, std::vector<Span> globals,
               std::vector<Span> parameters, CheckedHeap& heap, uint32_t& now);

  // Called when the launch begins.
  void Begin(LaunchState& launch);

  const std::vector<Span>& buffers;
  CheckedHeap& heap;

  uint32_t now() const { return now_; }
  uint32_t Tick() { return ++now_; }
  uint32_t began() const { return began_; }
  bool stopped() const { return launch_->stopped(); }

  // A global variable, by its number in the kernel's list.
  const Span* global(size_t index) const { return &globals_[order_[index]]; }
  size_t global_count() const { return globals_.size(); }
  const Span* parameter(size_t index) const { return &parameters_[index]; }
  // The global variable that holds or precedes `address`; null for none.
  const Span* FindGlobal(uint64_t address) const;
  // All of the kernel's parameters, and the words where blocks of a grid meet.
  Place FindOwn(uint64_t address) const;

  // What a thread of `block` learns from `address`, through an operation for the
  // threads of the block or of all blocks.
  Horizon Handed(uint64_t address, uint64_t block, bool in_block) const;
  // A thread that has seen everything older than `seen` hands on through `address`.
  void HandOn(uint64_t address, uint64_t block, const Horizon& time, uint32_t seen);

  // A conflict that does no harm if the value stays the same: remembers it until the
  // store is done. `Settle` reports it if the value has changed.
  void Defer(const Race& race);
  void Settle();

  // " at file.py:12 (`ld.global.f32 ...`)".
  std::string At(uint32_t site) const;

  // Each stops the launch with a message.
  void Fail(std::string message) { launch_->Fail(std::move(message)); }
  void ReportBounds(const Access& access, const Place& place, uint64_t block);
  void ReportMisaligned(const Access& access, const Place& place, uint64_t block);
  void ReportReadOnly(const Access& access, const Place& place, uint64_t block);
  void ReportUninitialized(const Access& access, const Place& place, uint64_t block);
  void ReportRace(const Race& race);
  void ReportNowhere(const Access& access, uint64_t block);
  void ReportFreed(const Access& access, const Place& place, uint64_t block);
  void ReportFree(uint64_t address, bool twice, uint32_t thread, uint32_t site,
                  uint64_t block);

 private:
  std::string Who(uint64_t thread, uint64_t block, uint32_t site) const;

  struct Deferred {
    Race race;
    uint8_t value[64];  // before the store
  };

  std::vector<Span> globals_;  // by address
  std::vector<size_t> order_;  // where those of the kernel's list are
  uint32_t& now_;
  uint32_t began_ = 0;
  LaunchState* launch_ = nullptr;
  std::vector<Span> parameters_;
  Span all_parameters_, workspace_;
  std::unordered_map<uint64_t, uint32_t> handed_;  // by address, to all blocks
  std::unordered_map<uint64_t, std::unordered_map<uint64_t, Horizon>> in_blocks_;
  std::optional<Deferred> deferred_;
};

}  // namespace jax_rawcuda
