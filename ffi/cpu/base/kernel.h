// kernel.h: a kernel as host code, and what the scheduler must know of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace jax_rawcuda {

struct Context;

// A parallel region: the code between two synchronisation points, for the threads from
// `begin` to `end` of a block.
using RegionFunction = void (*)(Context*, int32_t begin, int32_t end);

// One synchronisation point: what the threads that reach it ask for.
struct SyncPoint {
  int32_t kind, sub, aux, inputs, outputs, full_mask, immediate0, immediate1;
};

// jax_rawcuda/cpu/jit.py makes it, under the same name.
struct HostKernel {
  std::string name;  // as compiled
  std::vector<RegionFunction> regions;
  std::vector<SyncPoint> syncs;         // one per region, the first unused
  std::vector<std::string> sync_texts;  // source line and instruction, per region
  std::vector<std::string> sites;       // source line and instruction, per fault site
  int64_t slot_bytes;                   // live registers of one thread
  int64_t frame_bytes;                  // local arrays of one thread
  int64_t shared_bytes;                 // static shared memory
  int32_t sync_inputs;
  int32_t sync_outputs;
  struct Parameter {
    uint32_t offset, size;
  };
  std::vector<Parameter> parameters;
  uint32_t parameter_bytes;
  int32_t spin_budget;
  uint32_t max_threads;             // of __launch_bounds__, 0 when there are none
  std::array<uint32_t, 3> cluster;  // of __cluster_dims__, zeros when there are none

  // Variables that the code of a checked kernel keeps apart by red zones.
  struct Variable {
    std::string name;
    uint64_t place;  // an offset, or a global variable's address
    uint64_t size;   // 0: the launch's dynamic shared memory
    uint32_t item_bytes;
    bool writable;
  };
  std::vector<Variable> shared_variables, local_variables, global_variables;
  uint64_t red_zone_bytes = 0;  // of static shared memory
  // Per region, one bit per site, then one per region for the sync point before it:
  // whether it is beyond the sync point that the region begins with, so that a thread
  // comes to it only afterwards.
  std::vector<std::string> passed_sites;
  // Per site: the variable whose address the access was computed from, counted through
  // the three lists above, and then the parameters, from 1; 0 if that is not known.
  std::vector<uint32_t> origins;
};

// The kernel's parameters at their offsets, once per batch element.
struct Parameters {
  const uint8_t* begin;
  size_t stride = 0;      // bytes
  uint64_t elements = 1;  // grids of blocks that run side by side
};

// Bytes that a launch reads of each element's parameters, at most: vector parameters
// are loaded whole, so there are some beyond the last one.
inline size_t ParameterBytes(const HostKernel& kernel) {
  return kernel.parameter_bytes + 4 * sizeof(uint64_t);
}

}  // namespace jax_rawcuda
