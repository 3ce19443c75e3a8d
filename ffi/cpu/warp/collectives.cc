// collectives.cc: shuffles, votes, matches and reductions within a warp.
#include "ffi/cpu/warp/collectives.h"

#include <algorithm>
#include <cmath>

#include "ffi/cpu/base/bit_tricks.h"
#include "ffi/cpu/base/float16.h"
#include "ffi/cpu/warp/matrix.h"

namespace jax_rawcuda {
namespace {

constexpr uint32_t kAllLanes = ~0u;

// The whole warp with the lane and clamp operands known: one copy per lane.
bool ShuffleWholeWarp(ShuffleMode mode, uint32_t lane_operand, uint32_t clamp,
                      const uint64_t* values, uint64_t* results) {
  const uint32_t offset = lane_operand % kWarpSize;
  switch (mode) {
    case ShuffleMode::kButterfly:
      if (clamp != kWarpSize - 1) return false;
      for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
        results[lane] = values[lane ^ offset];
      }
      return true;
    case ShuffleMode::kDown:
      if (clamp != kWarpSize - 1) return false;
      std::copy(values + offset, values + kWarpSize, results);
      std::copy(values + kWarpSize - offset, values + kWarpSize,
                results + kWarpSize - offset);
      return true;
    case ShuffleMode::kUp:
      if (clamp != 0) return false;
      std::copy(values, values + offset, results);
      std::copy(values, values + kWarpSize - offset, results + offset);
      return true;
    default:
      return false;
  }
}

struct Source {
  uint32_t lane;
  bool in_range;
};

// The lane that `lane` reads: the formula of shfl.sync in the PTX manual. `clamp` holds
// the segment mask in bits 8 to 12 and the bound in bits 0 to 4.
Source ShuffleSource(ShuffleMode mode, uint32_t lane, uint32_t operand,
                     uint32_t clamp) {
  const uint32_t segment = clamp >> 8 & 31;
  const uint32_t offset = operand & 31;
  const int32_t highest =
      static_cast<int32_t>((lane & segment) | (clamp & 31 & ~segment));
  const auto self = static_cast<int32_t>(lane);
  int32_t source;
  switch (mode) {
    case ShuffleMode::kIndex:
      source = static_cast<int32_t>((lane & segment) | (offset & ~segment));
      break;
    case ShuffleMode::kUp:
      source = self - static_cast<int32_t>(offset);
      // Here the bound is the lowest lane, not the highest.
      return source >= highest ? Source{static_cast<uint32_t>(source), true}
                               : Source{lane, false};
    case ShuffleMode::kDown:
      source = self + static_cast<int32_t>(offset);
      break;
    default:
      source = self ^ static_cast<int32_t>(offset);
      break;
  }
  return source <= highest ? Source{static_cast<uint32_t>(source), true}
                           : Source{lane, false};
}

// Input and result slots of one warp: slot s of lane l is at [s * stride + l].
struct WarpSlots {
  const uint64_t* in;
  uint64_t* out;
  uint32_t stride;
  uint32_t lanes;

  uint64_t Input(uint32_t slot, uint32_t lane) const {
    return in[slot * stride + lane];
  }

  template <typename Visit>
  void ForEachLane(Visit visit) const {
    for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) visit(LowestBit(rest));
  }
  void Broadcast(uint64_t result) const {
    ForEachLane([&](uint32_t lane) { out[lane] = result; });
  }
};

void Shuffle(const WarpSlots& warp, const SyncPoint& sync) {
  const auto mode = static_cast<ShuffleMode>(sync.sub);
  const bool constant = sync.aux == 1;
  const auto constant_lane = static_cast<uint32_t>(sync.immediate0);
  const auto constant_clamp = static_cast<uint32_t>(sync.immediate1);
  if (constant && warp.lanes == kAllLanes &&
      ShuffleWholeWarp(mode, constant_lane, constant_clamp, warp.in + warp.stride,
                       warp.out)) {
    return;
  }
  // A source lane outside the member mask gives an undefined value: 0 here.
  uint64_t values[kWarpSize] = {};
  warp.ForEachLane([&](uint32_t lane) { values[lane] = warp.Input(1, lane); });
  warp.ForEachLane([&](uint32_t lane) {
    const uint32_t operand =
        constant ? constant_lane : static_cast<uint32_t>(warp.Input(2, lane));
    const uint32_t clamp =
        constant ? constant_clamp : static_cast<uint32_t>(warp.Input(3, lane));
    const Source source = ShuffleSource(mode, lane, operand, clamp);
    warp.out[lane] = values[source.lane % kWarpSize];
    if (!constant) warp.out[warp.stride + lane] = source.in_range;
  });
}

void Vote(const WarpSlots& warp, const SyncPoint& sync) {
  uint32_t ballot = 0;
  warp.ForEachLane([&](uint32_t lane) {
    ballot |= static_cast<uint32_t>(warp.Input(1, lane) & 1) << lane;
  });
  switch (static_cast<VoteMode>(sync.sub)) {
    case VoteMode::kAll:
      return warp.Broadcast(ballot == warp.lanes);
    case VoteMode::kAny:
      return warp.Broadcast(ballot != 0);
    case VoteMode::kUniform:
      return warp.Broadcast(ballot == warp.lanes || ballot == 0);
    case VoteMode::kBallot:
      return warp.Broadcast(ballot);
  }
}

void Match(const WarpSlots& warp, const SyncPoint& sync) {
  const bool match_all = sync.sub == 1;
  uint32_t unmatched = warp.lanes;
  while (unmatched != 0) {
    const uint64_t value = warp.Input(1, LowestBit(unmatched));
    uint32_t equal = 0;
    warp.ForEachLane([&](uint32_t lane) {
      equal |= static_cast<uint32_t>(warp.Input(1, lane) == value) << lane;
    });
    const bool all = equal == warp.lanes;
    if (match_all) {
      warp.ForEachLane([&](uint32_t lane) {
        warp.out[lane] = all ? equal : 0;
        warp.out[warp.stride + lane] = all;
      });
      return;
    }
    for (uint32_t rest = equal; rest != 0; rest &= rest - 1) {
      warp.out[LowestBit(rest)] = equal;
    }
    unmatched &= ~equal;
  }
}

uint32_t Combine(const SyncPoint& sync, uint32_t a, uint32_t b) {
  const auto signed_a = static_cast<int32_t>(a);
  const auto signed_b = static_cast<int32_t>(b);
  switch (static_cast<ReduxOperation>(sync.sub)) {
    case ReduxOperation::kAdd:
      return a + b;
    case ReduxOperation::kMin:
      if (sync.aux == 2)
        return BitsFromFloat(std::fmin(FloatFromBits(a), FloatFromBits(b)));
      if (sync.aux == 1) return static_cast<uint32_t>(std::min(signed_a, signed_b));
      return std::min(a, b);
    case ReduxOperation::kMax:
      if (sync.aux == 2)
        return BitsFromFloat(std::fmax(FloatFromBits(a), FloatFromBits(b)));
      if (sync.aux == 1) return static_cast<uint32_t>(std::max(signed_a, signed_b));
      return std::max(a, b);
    case ReduxOperation::kAnd:
      return a & b;
    case ReduxOperation::kOr:
      return a | b;
    case ReduxOperation::kXor:
      return a ^ b;
  }
  return a;
}

void Reduce(const WarpSlots& warp, const SyncPoint& sync) {
  auto result = static_cast<uint32_t>(warp.Input(1, LowestBit(warp.lanes)));
  for (uint32_t rest = warp.lanes & (warp.lanes - 1); rest != 0; rest &= rest - 1) {
    result =
        Combine(sync, result, static_cast<uint32_t>(warp.Input(1, LowestBit(rest))));
  }
  warp.Broadcast(result);
}

void Elect(const WarpSlots& warp) {
  const uint32_t leader = LowestBit(warp.lanes);
  warp.ForEachLane([&](uint32_t lane) {
    warp.out[lane] = leader;
    warp.out[warp.stride + lane] = lane == leader;
  });
}

}  // namespace

void Resolve(const Context& context, const SyncPoint& sync, uint32_t warp,
             uint32_t lanes) {
  const uint32_t first = warp * kWarpSize;
  const WarpSlots slots{context.sync_in + first, context.sync_out + first,
                        context.thread_stride, lanes};
  switch (KindOf(sync)) {
    case SyncKind::kShuffle:
      return Shuffle(slots, sync);
    case SyncKind::kVote:
      return Vote(slots, sync);
    case SyncKind::kMatch:
      return Match(slots, sync);
    case SyncKind::kRedux:
      return Reduce(slots, sync);
    case SyncKind::kElect:
      return Elect(slots);
    case SyncKind::kActiveMask:
      return slots.Broadcast(lanes);
    case SyncKind::kMma:
    case SyncKind::kWmma:
      return MultiplyMatrices(context, sync, first);
    case SyncKind::kLdmatrix:
      return LoadMatrices(context, sync, first);
    case SyncKind::kStmatrix:
      return StoreMatrices(context, sync, first);
    case SyncKind::kMovmatrix:
      return TransposeMatrix(context, first);
    default:
      return;
  }
}

}  // namespace jax_rawcuda
