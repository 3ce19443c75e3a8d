// collectives.h: operations that the lanes of a warp do together.
#pragma once

#include <cstdint>

#include "ffi/cpu/base/context.h"
#include "ffi/cpu/base/kernel.h"

namespace jax_rawcuda {

// Modes of shfl.sync (SyncPoint::sub of kShuffle).
enum class ShuffleMode : int32_t { kIndex = 0, kUp = 1, kDown = 2, kButterfly = 3 };

// Modes of vote.sync (SyncPoint::sub of kVote).
enum class VoteMode : int32_t { kAll = 0, kAny = 1, kUniform = 2, kBallot = 3 };

// Operations of redux.sync (SyncPoint::sub of kRedux).
enum class ReduxOperation : int32_t {
  kAdd = 0,
  kMin = 1,
  kMax = 2,
  kAnd = 3,
  kOr = 4,
  kXor = 5,
};

inline SyncKind KindOf(const SyncPoint& sync) {
  return static_cast<SyncKind>(sync.kind);
}

// Whether lanes named by a member mask wait for each other at `sync`.
inline bool IsWarpCollective(const SyncPoint& sync) {
  switch (KindOf(sync)) {
    case SyncKind::kWarpSync:
    case SyncKind::kShuffle:
    case SyncKind::kVote:
    case SyncKind::kMatch:
    case SyncKind::kRedux:
    case SyncKind::kMma:
    case SyncKind::kLdmatrix:
    case SyncKind::kElect:
    case SyncKind::kStmatrix:
    case SyncKind::kWmma:
    case SyncKind::kMovmatrix:
      return true;
    default:
      return false;
  }
}

// Whether lanes at two points may take part in one collective.
inline bool SameCollective(const SyncPoint& a, const SyncPoint& b) {
  return a.kind == b.kind && a.sub == b.sub && a.aux == b.aux &&
         a.immediate0 == b.immediate0 && a.immediate1 == b.immediate1;
}

// Computes the results for all `lanes` of `warp`, each into its own result slots.
void Resolve(const Context& context, const SyncPoint& sync, uint32_t warp,
             uint32_t lanes);

}  // namespace jax_rawcuda
