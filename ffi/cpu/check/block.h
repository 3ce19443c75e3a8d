// block.h: the checks of one block: its memory, and the order of its threads.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ffi/cpu/check/clock.h"
#include "ffi/cpu/check/copies.h"
#include "ffi/cpu/check/launch.h"
#include "ffi/cpu/check/surroundings.h"

namespace jax_rawcuda {

class BlockChecks {
 public:
  // `context` belongs to the block, which outlives this; so does `surroundings`.
  BlockChecks(LaunchChecks& launch, const LaunchState& state, Context& context,
              const Surroundings& surroundings);

  void Begin(uint64_t block);

  // Whether the access may happen; if not, the launch has failed.
  bool Allow(const Access& access);

  // Notes what the hardware has copied to shared memory of a block of the cluster.
  void Deliver(uint64_t address, uint64_t bytes);

  // What the scheduler lets pass.
  void SyncBlock() { clock_.SyncBlock(launch_.Tick()); }
  void SyncCluster() { clock_.SyncCluster(launch_.Tick()); }
  void SyncWarp(uint32_t warp, uint32_t lanes) {
    clock_.SyncWarp(launch_.Tick(), warp, lanes);
  }
  void SyncThreads(const LaneMasks& threads) {
    clock_.SyncThreads(launch_.Tick(), threads);
  }
  void Fence(uint32_t thread, bool in_block) {
    const uint32_t time = launch_.Tick();
    clock_.Fence({in_block ? 0 : time, time}, thread);
  }

  // Whether threads come to the access `site` only after sync point `point`.
  bool IsPast(size_t point, uint32_t site) const;
  // What a thread that has ended did last, if it comes after sync point `point`.
  std::optional<uint32_t> WentPast(size_t point, uint32_t thread) const;
  void End(uint32_t thread, int32_t region) { last_regions_[thread] = region; }

  // Variables of device functions, on the host's stack.
  size_t stack_size() const { return stack_.size(); }
  void PushStack(uint64_t begin, uint64_t size);
  void PopStack(size_t size);

  uint64_t Allocate(uint64_t size) { return launch_.heap.Allocate(size, state_.id); }
  void Free(uint64_t address, uint32_t thread, uint32_t site);

 private:
  Place Find(const Access& access);
  Place FromOrigin(const Access& access, uint32_t variable) const;
  Place FindShared(int64_t offset) const;
  Place FindInCluster(uint64_t address) const;
  Place FindLocal(const Access& access, uint64_t offset);
  Place FindHeap(const Access& access);
  bool Bounded(const Access& access, const Place& place);
  bool Initialized(const Access& access, const Place& place) const;
  bool Read(const Access& access, const Place& place);
  bool Write(const Access& access, const Place& place);
  void FindRaces(const Access& access, const Place& place);
  std::optional<Mark> Touch(const Access& access, const Place& place);
  void HandOn(const Access& access);
  bool Conflicts(const Mark& mark, const Access& access) const;
  std::optional<size_t> Skipped(const Access& access, const Mark& other) const;

  LaunchChecks& launch_;
  const LaunchState& state_;
  Context& context_;
  const Surroundings& surroundings_;
  uint64_t block_ = 0;
  BlockClock clock_;
  std::vector<std::unique_ptr<Shadow>> shadows_;
  std::vector<Span> shared_;  // from the start of shared memory
  std::vector<Span> local_;   // from the start of a thread's frame
  std::vector<Span> stack_;
  std::unordered_map<uint64_t, Span> heap_;  // allocations, by where they begin
  Copies copies_;
  std::array<uint32_t, kMaxThreads> last_sites_;
  std::array<int32_t, kMaxThreads> last_regions_;
};

}  // namespace jax_rawcuda
