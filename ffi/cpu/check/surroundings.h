// surroundings.h: what the checks of a block ask of the block that they belong to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace jax_rawcuda {

class BlockChecks;

// The block stands above its checks, so they know it by this alone.
class Surroundings {
 public:
  // Another block of the same cluster.
  struct Neighbour {
    const BlockChecks* checks;
    uint64_t shared;  // where its shared memory begins
  };

  // The one whose shared memory holds `address`.
  virtual std::optional<Neighbour> NeighbourAt(uint64_t address) const = 0;

  // The synchronisation point of the __syncthreads() at which a thread waits.
  virtual std::optional<size_t> BarrierOf(uint32_t thread) const = 0;

 protected:
  ~Surroundings() = default;
};

}  // namespace jax_rawcuda
