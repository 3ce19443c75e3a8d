// cluster.h: blocks that run together and reach each other's shared memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ffi/cpu/base/aligned_buffer.h"
#include "ffi/cpu/block/block.h"
#include "ffi/cpu/launch/launch_state.h"

namespace jax_rawcuda {

// What a thread of the pool runs and puts aside: a cluster of one block is a block. One
// object serves many clusters, one after another.
class Cluster {
 public:
  // Gets storage for the clusters of `launch`; false when there is no memory for it.
  bool Prepare(LaunchState& launch);

  // Becomes cluster number `index` of the grid, before its first instruction.
  void Begin(uint64_t index);

  // Runs until every thread has exited, or only spins, or the launch stops.
  Outcome Run();

  // Whether a thread has exited, or a barrier was passed, since the last call.
  bool TakeProgress();

  size_t storage_bytes() const;

  // Records a fault of the block that ran.
  void ReportFault(const Fault& fault) { blocks_[running_]->ReportFault(fault); }

  // What the threads of a block that runs wait for, for messages.
  std::string Where() const;

  // Starts the next phase of the cluster's barrier if every living thread has arrived.
  bool CompleteBarrier();

  // The blocks' shared memories lie in a row, so that an address in one, as a signed
  // offset from another, has 32 bits.
  uint8_t* shared(uint32_t rank) const { return shared_.data() + rank * stride_; }

  const BlockChecks* checks(uint32_t rank) const { return blocks_[rank]->checks(); }

  // Which block's shared memory holds an address; the number of blocks for none.
  uint32_t RankOf(uint64_t address) const;

  uint32_t size() const { return static_cast<uint32_t>(blocks_.size()); }

 private:
  // Reports a thread of any block that has gone past the barrier (barrier_checks.cc).
  void CheckSkippers();

  LaunchState* launch_ = nullptr;
  std::vector<std::unique_ptr<Block>> blocks_;  // by rank
  std::vector<bool> done_;                      // blocks whose threads have exited
  AlignedBuffer shared_;                        // of more than one block
  size_t stride_ = 0;                           // bytes from block to block
  uint32_t running_ = 0;                        // rank of the block that runs
  bool progressed_ = false;
};

}  // namespace jax_rawcuda
