// cluster_memory.cc: addresses in the shared memory of a cluster's other blocks.
#include <cstddef>
#include <cstring>
#include <string>

#include "ffi/cpu/base/context.h"
#include "ffi/cpu/block/block.h"
#include "ffi/cpu/block/cluster.h"
#include "ffi/cpu/helpers/mbarrier.h"
#include "ffi/cpu/helpers/symbols.h"

namespace jax_rawcuda {
namespace {

// A host address, or a signed 32-bit offset from the calling block's shared memory.
uint64_t HostAddress(const Context& context, uint64_t address, int32_t is_offset) {
  if (is_offset == 0) return address;
  return reinterpret_cast<uint64_t>(context.shared) +
         static_cast<uint64_t>(int64_t{static_cast<int32_t>(address)});
}

// The block that an address in shared memory belongs to.
uint32_t OwnerOf(const Context& context, uint64_t host_address) {
  const Cluster* const cluster = context.block->cluster();
  if (cluster == nullptr) return 0;
  const uint32_t rank = cluster->RankOf(host_address);
  return rank < cluster->size() ? rank : context.cluster_rank;
}

const uint8_t* SharedOf(const Context& context, uint32_t rank) {
  const Cluster* const cluster = context.block->cluster();
  return cluster == nullptr ? context.shared : cluster->shared(rank);
}

// The same place in the shared memory of block `rank`.
uint64_t jrc_mapa(Context* context, uint64_t address, uint32_t rank,
                  int32_t is_offset) {
  if (rank >= context->cluster_size) {
    context->faulted = 1;
    context->block->launch().Fail(
        "shared memory of block " + std::to_string(rank) + " of a cluster used in " +
        context->block->Describe(0) + "; the cluster has " +
        std::to_string(context->cluster_size) +
        (context->cluster_size == 1 ? " block." : " blocks."));
    return address;
  }
  const uint64_t host = HostAddress(*context, address, is_offset);
  const uint8_t* const from = SharedOf(*context, OwnerOf(*context, host));
  return address + static_cast<uint64_t>(SharedOf(*context, rank) - from);
}

uint32_t jrc_ctarank(Context* context, uint64_t address, int32_t is_offset) {
  return OwnerOf(*context, HostAddress(*context, address, is_offset));
}

bool jrc_is_cluster_shared(Context* context, uint64_t address) {
  const auto shared = reinterpret_cast<uint64_t>(context->shared);
  const Cluster* const cluster = context->block->cluster();
  if (cluster != nullptr) return cluster->RankOf(address) < cluster->size();
  return address >= shared && address - shared <= context->total_shared;
}

// Copies to the same place in every block that `mask` names, and tells the barrier at
// the same place of each.
void jrc_multicast(Context* context, uint8_t* to, const uint8_t* from, uint32_t size,
                   uint8_t* barrier, uint32_t mask) {
  for (uint32_t rank = 0; rank < context->cluster_size; ++rank) {
    if ((mask >> rank & 1) == 0) continue;
    const ptrdiff_t step = SharedOf(*context, rank) - context->shared;
    std::memcpy(to + step, from, size);
    if (BlockChecks* const checks = context->block->checks()) {
      checks->Deliver(reinterpret_cast<uint64_t>(to + step), size);
    }
    CompleteBytes(reinterpret_cast<uint64_t*>(barrier + step), size);
  }
}

}  // namespace

void AppendClusters(SymbolTable& table) {
  table.insert(table.end(), {
                                JRC_SYMBOL(jrc_mapa),
                                JRC_SYMBOL(jrc_ctarank),
                                JRC_SYMBOL(jrc_is_cluster_shared),
                                JRC_SYMBOL(jrc_multicast),
                            });
}

}  // namespace jax_rawcuda
