// block.h: one block of threads, run region by region.
//
// One host thread runs a whole block, and it can wait for nobody in the middle of a
// function: the threads it waits for would never run. So generated code is cut at the
// kernel's synchronisation points. A parallel region is a work-item loop: its function
// runs a range of the block's threads from one point to the next, and writes down for
// each in which region it goes on (`next`). A block decides between two regions who may
// go on.
//
// Nearly always all living threads are at one point, and that is all there is to know:
// the block is converged (converged.cc). Where they part, each thread is put on record
// with what it waits for, and goes on by itself until all meet again (diverged.cc,
// release.cc). Both give the same results; the first makes a barrier cost about a
// nanosecond per thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ffi/cpu/base/aligned_buffer.h"
#include "ffi/cpu/base/barrier.h"
#include "ffi/cpu/base/context.h"
#include "ffi/cpu/check/block.h"
#include "ffi/cpu/check/surroundings.h"
#include "ffi/cpu/launch/faults.h"
#include "ffi/cpu/launch/launch_state.h"

namespace jax_rawcuda {

class Cluster;

enum class Outcome {
  kDone,     // every thread has exited
  kWaiting,  // at the barrier of the cluster, for threads of other blocks
  kStalled,  // the threads spin: other blocks should have a turn
  kPaused,   // the threads have run for long: other blocks should have a turn
  kFaulted,  // the launch has stopped
};

// A suspended thread is an index into arrays, so a block is plain data that may be put
// aside and resumed by any thread. One object serves many blocks, one after another.
class Block final : public Surroundings {
 public:
  // Vectorised loads may reach this far beyond the last element.
  static constexpr size_t kSlack = 64;

  // Gets storage for the blocks of `launch`; false when there is no memory for it.
  // `cluster` is null when the block is the only one of its cluster.
  bool Prepare(LaunchState& launch, Cluster* cluster, uint32_t rank);

  // Becomes block number `index` of the grid, before its first instruction.
  void Begin(uint64_t index);

  // Runs until every thread has exited, or only spins, or the launch stops.
  Outcome Run();

  // Whether a thread has exited since the last call.
  bool TakeProgress();

  LaunchState& launch() const { return *launch_; }
  // Null unless the launch is checked.
  BlockChecks* checks() const { return checks_.get(); }
  size_t storage_bytes() const;

  // Whether `address` lies in the frames of local arrays.
  bool OwnsLocal(uint64_t address) const;

  // Null when the block is the only one of its cluster.
  const Cluster* cluster() const { return cluster_; }

  // Arrivals at the barrier of the cluster: whether no living thread is missing,
  // whether there is one, and whether a thread waits although the phase is over.
  bool AllAtCluster() const;
  bool AnyAtCluster() const;
  bool MayPassCluster() const;
  void LeaveCluster() {
    cluster_arrived_.fill(0);
    if (checks_ != nullptr) checks_->SyncCluster();
  }

  // A thread that waits for the cluster, and reports one of `other` that has gone past
  // where that thread waits.
  std::optional<uint32_t> FirstAtCluster() const;
  bool CheckSkippers(uint32_t waiting, const Block& other);

  std::optional<Neighbour> NeighbourAt(uint64_t address) const override;
  std::optional<size_t> BarrierOf(uint32_t thread) const override;

  // Records a fault that lists where the threads wait.
  void ReportDeadlock();

  // Records what the processor has refused.
  void ReportFault(const Fault& fault);

  // "thread (x,y,z), block (x,y,z)", for messages.
  std::string Describe(int32_t thread) const;

  // The same of a thread that waits, with " at file:line: instruction".
  std::string Where() const;

 private:
  struct Range {
    int32_t begin, end;
  };
  enum class Step {
    kConverged,
    kDiverged,
    kDone,
    kWaiting,
    kStalled,
    kPaused,
    kFaulted
  };

  // All living threads are about to enter region_ (converged.cc).
  Step RunConverged();
  int32_t CommonPoint();
  int32_t PointOfLiving(bool* all_equal) const;
  void UpdateLiving();
  bool PassConverged(const SyncPoint& sync);
  bool PassBarrier(const SyncPoint& sync);
  bool PassWarps(const SyncPoint& sync);
  bool MasksAgree(uint32_t warp) const;
  bool Stalled();

  // Threads are in different places (diverged.cc, release.cc).
  void Diverge();
  Step RunDiverged();
  void Arrive(uint32_t thread);
  bool RunReady();
  bool ResolveWarps();
  bool ResolveWarp(uint32_t warp);
  bool ReleaseBarriers();
  void ReleaseBarrier(uint32_t id);
  bool ReleaseCluster();
  bool WaitsForCluster() const;
  bool AnswerActiveMasks();
  bool ReleaseYields();
  bool Reconverge();

  // What checked launches say about barriers (barrier_checks.cc).
  void CheckBarrier(uint32_t id, const LaneMasks& waiting);
  void CheckSkippers(uint32_t waiting);
  void CheckWarp(uint32_t waiting, uint32_t group);
  void CheckSkippers(const char* what, uint32_t waiting, uint32_t warp, uint32_t lanes,
                     const char* advice);
  bool WaitsForBlock(uint32_t thread) const;
  void ReportDivergence(uint32_t first, uint32_t other);
  void ReportSkipper(const char* what, uint32_t waiting, const std::string& skipper,
                     uint32_t site, const char* advice);

  uint32_t BarrierId(uint32_t thread, const SyncPoint& sync) const;
  std::string BarrierFault(uint32_t thread, const SyncPoint& sync) const;
  uint32_t WaitingAt(uint32_t warp, SyncKind kind) const;

  const SyncPoint& SyncOf(uint32_t thread) const {
    return launch_->kernel.syncs[static_cast<size_t>(next_[thread])];
  }
  uint32_t Input(uint32_t slot, uint32_t thread) const {
    return static_cast<uint32_t>(
        context_.sync_in[slot * context_.thread_stride + thread]);
  }
  // The living lanes that a lane's member mask names.
  uint32_t Members(const SyncPoint& sync, uint32_t thread) const {
    const uint32_t mask = sync.full_mask ? ~0u : Input(0, thread);
    return mask & living_[thread / kWarpSize];
  }

  Context context_ = {};
  LaunchState* launch_ = nullptr;
  Cluster* cluster_ = nullptr;
  std::unique_ptr<BlockChecks> checks_;
  AlignedBuffer shared_, local_, slots_, sync_in_, sync_out_;
  uint32_t warp_count_ = 0;

  int32_t region_ = 0;           // that runs, or that all living threads enter next
  bool converged_ = true;        //
  uint32_t yields_ = 0;          // rounds in which threads used up their spin budget
  uint32_t regions_left_ = 0;    // of this turn
  bool progressed_ = false;      //
  uint32_t living_count_ = 0;    //
  LaneMasks living_ = {};        // threads that have not exited
  std::vector<Range> ranges_;    // the same, as ranges
  LaneMasks ready_ = {};         // threads that may enter region next_[thread]
  bool barriers_used_ = false;   // whether a barrier may hold arrivals
  Barrier barriers_[kBarriers];  //
  LaneMasks cluster_arrived_ = {};
  alignas(64) int32_t next_[kMaxThreads];
};

}  // namespace jax_rawcuda
