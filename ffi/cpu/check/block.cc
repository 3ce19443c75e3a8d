// block.cc: may a thread touch these bytes now?
#include "ffi/cpu/check/block.h"

#include <utility>

namespace jax_rawcuda {
namespace {

constexpr uint32_t kNowhere = ~0u;  // no site

}  // namespace

BlockChecks::BlockChecks(LaunchChecks& launch, const LaunchState& state,
                         Context& context, const Surroundings& surroundings)
    : launch_(launch), state_(state), context_(context), surroundings_(surroundings) {
  const auto bytes = [](uint64_t size) {
    return " (" + std::to_string(size) + " bytes)";
  };
  for (const HostKernel::Variable& variable : state.kernel.shared_variables) {
    Span span;
    span.dynamic = variable.size == 0;
    span.size = span.dynamic ? state.dynamic_shared : variable.size;
    span.what = "shared memory '" + variable.name + "'" + bytes(span.size);
    span.begin = variable.place;
    span.item_bytes = variable.item_bytes;
    span.initialized = false;
    span.per_block = true;
    shadows_.push_back(std::make_unique<Shadow>(span.size));
    span.shadow = shadows_.back().get();
    shared_.push_back(std::move(span));
  }
  for (const HostKernel::Variable& variable : state.kernel.local_variables) {
    Span span;
    span.what = "local memory of a thread" + bytes(variable.size);
    span.begin = variable.place;
    span.size = variable.size;
    local_.push_back(std::move(span));
  }
}

void BlockChecks::Begin(uint64_t block) {
  block_ = block;
  stack_.clear();
  heap_.clear();
  copies_.Clear();
  last_sites_.fill(kNowhere);
  last_regions_.fill(0);
  clock_.Begin(launch_.Tick());
}

bool BlockChecks::Allow(const Access& access) {
  launch_.Settle();
  if (launch_.stopped()) return false;
  if (access.bytes == 0) return true;
  const Place place = Find(access);
  if (place.span == nullptr) {
    if (!launch_.stopped()) launch_.ReportNowhere(access, block_);
    return false;
  }
  if (!Bounded(access, place)) return false;
  const Span& span = *place.span;
  const auto offset = static_cast<uint64_t>(place.offset);
  if (span.shadow != nullptr) {
    if (!span.shadow->Prepare(offset, access.bytes)) {
      launch_.Fail("out of host memory for the checks of " + span.what + ".");
      return false;
    }
  }
  if (access.has(kReads) && !Read(access, place)) return false;
  if (access.has(kWrites) && !Write(access, place)) return false;
  if (span.shadow != nullptr) FindRaces(access, place);
  if (access.has(kAcquires | kReleases | kAtomic) && !access.has(kGuess)) {
    HandOn(access);
  }
  last_sites_[access.thread] = access.site;
  return !launch_.stopped();
}

// Whether the span has these bytes, aligned and open for this.
bool BlockChecks::Bounded(const Access& access, const Place& place) {
  const Span& span = *place.span;
  const auto offset = static_cast<uint64_t>(place.offset);
  if (place.offset < 0 || offset > span.size || access.bytes > span.size - offset) {
    launch_.ReportBounds(access, place, block_);
  } else if (access.address % access.alignment() != 0) {
    launch_.ReportMisaligned(access, place, block_);
  } else if (access.has(kWrites) && !span.writable) {
    launch_.ReportReadOnly(access, place, block_);
  } else {
    return true;
  }
  return false;
}

// Whether somebody has written what is read, or need not have.
bool BlockChecks::Read(const Access& access, const Place& place) {
  std::optional<Unwritten> read;
  if (access.has(kUnused)) return true;
  if (!Initialized(access, place)) {
    read = Unwritten{access, place};
  } else {
    read = copies_.Find(access.address, access.bytes);
  }
  if (access.copy() != 0) {
    copies_.Carry(access, read);
  } else if (read) {
    launch_.ReportUninitialized(read->access, read->place, block_);
    return false;
  }
  return true;
}

// Whether what is written may go there.
bool BlockChecks::Write(const Access& access, const Place& place) {
  copies_.Forget(access.address, access.bytes);
  const std::optional<Unwritten> value = copies_.Carried(access);
  if (!value) return true;
  // Only the block itself sees these; others may use what they find elsewhere.
  const Span& span = *place.span;
  const bool own = span.per_block ||
                   (span.shadow == nullptr && heap_.find(span.begin) == heap_.end());
  if (own) {
    copies_.Store(access, *value);
  } else {
    launch_.ReportUninitialized(value->access, value->place, block_);
  }
  return own;
}

// Vectors may hold unused parts, so one written byte is enough.
bool BlockChecks::Initialized(const Access& access, const Place& place) const {
  const Span& span = *place.span;
  if (span.initialized || span.shadow == nullptr) return true;
  const uint32_t since = span.per_block ? clock_.begin() : 1;
  const auto offset = static_cast<uint64_t>(place.offset);
  const Cell* const end = span.shadow->end(offset, access.bytes);
  for (const Cell* cell = span.shadow->begin(offset); cell != end; ++cell) {
    if (cell->WrittenSince(since)) return true;
  }
  return false;
}

bool BlockChecks::Conflicts(const Mark& mark, const Access& access) const {
  const auto block = static_cast<uint32_t>(block_);
  if (mark.atomic && access.has(kAtomic) &&
      (mark.block == block || !(mark.in_block || access.has(kBlockScope)))) {
    return false;
  }
  return !clock_.Ordered(mark, block, access.thread);
}

void BlockChecks::FindRaces(const Access& access, const Place& place) {
  const std::optional<Mark> other = Touch(access, place);
  if (!other) return;
  const Race race{access, place, *other, block_, Skipped(access, *other)};
  if (access.has(kWrites) && !access.has(kAtomic)) {
    launch_.Defer(race);
  } else {
    launch_.ReportRace(race);
  }
}

// Notes an access; returns an earlier one that is not ordered before it.
std::optional<Mark> BlockChecks::Touch(const Access& access, const Place& place) {
  const Shadow& shadow = *place.span->shadow;
  const auto offset = static_cast<uint64_t>(place.offset);
  // Marks of an earlier block in the same shared memory mean nothing.
  const uint32_t since = place.span->per_block ? clock_.begin() : launch_.began();
  Mark mine{};
  mine.time = launch_.now();
  mine.block = access.has(kAsync) ? kNoBlock : static_cast<uint32_t>(block_);
  mine.thread = access.thread & 1023;
  mine.atomic = access.has(kAtomic);
  mine.in_block = access.has(kBlockScope);
  mine.site = access.site & kSiteMask;
  Mark other{};
  Cell* const end = shadow.end(offset, access.bytes);
  for (Cell* cell = shadow.begin(offset); cell != end; ++cell) {
    const Mark* const marks[] = {&cell->write, &cell->update, &cell->read,
                                 &cell->earlier_read};
    for (size_t i = 0; i < (access.has(kWrites) ? 4u : 2u) && other.time == 0; ++i) {
      if (marks[i]->time >= since && Conflicts(*marks[i], access)) other = *marks[i];
    }
    if (access.has(kWrites)) {
      (mine.atomic ? cell->update : cell->write) = mine;
    } else {
      const Mark& last = cell->read;
      if (last.thread != mine.thread || last.block != mine.block ||
          last.atomic != mine.atomic) {
        cell->earlier_read = last;
      }
      cell->read = mine;
    }
  }
  return other.time == 0 ? std::nullopt : std::optional<Mark>(other);
}

void BlockChecks::Deliver(uint64_t address, uint64_t bytes) {
  Place place = FindInCluster(address);
  const auto shared = reinterpret_cast<uint64_t>(context_.shared);
  if (place.span == nullptr) place = FindShared(static_cast<int64_t>(address - shared));
  if (place.span == nullptr) return;
  const auto offset = static_cast<uint64_t>(place.offset);
  Shadow& shadow = *place.span->shadow;
  if (place.offset < 0 || offset + bytes > place.span->size) return;
  if (!shadow.Prepare(offset, bytes)) return;
  copies_.Forget(address, bytes);
  Mark nobody{};
  nobody.time = launch_.now();
  nobody.block = kNoBlock;
  Cell* const end = shadow.end(offset, bytes);
  for (Cell* cell = shadow.begin(offset); cell != end; ++cell) {
    cell->write = nobody;
    cell->update = {};
  }
}

// Values that go through an atomic variable carry others' writes along, if a fence or
// the operation itself says so.
void BlockChecks::HandOn(const Access& access) {
  const uint64_t address = access.address & kAddressMask;
  const bool in_block = access.has(kBlockScope);
  if (access.has(kReads | kAcquires)) {
    clock_.Acquire(launch_.Handed(address, block_, in_block), access.thread);
  }
  if (!access.has(kWrites | kReleases)) return;
  Horizon time = clock_.fenced(access.thread);
  if (access.has(kReleases)) time = Horizon{launch_.Tick(), launch_.now()};
  if (in_block) time.anywhere = 0;
  launch_.HandOn(address, block_, time, clock_.acquired(access.thread).anywhere);
}

// The barrier where the thread of `other` waits, if the access comes after it.
std::optional<size_t> BlockChecks::Skipped(const Access& access,
                                           const Mark& other) const {
  if (other.block != static_cast<uint32_t>(block_)) return std::nullopt;
  const std::optional<size_t> barrier = surroundings_.BarrierOf(other.thread);
  return barrier && IsPast(*barrier, access.site) ? barrier : std::nullopt;
}

bool BlockChecks::IsPast(size_t point, uint32_t site) const {
  const auto& passed = state_.kernel.passed_sites;
  if (point >= passed.size()) return false;
  return site / 8 < passed[point].size() &&
         (passed[point][site / 8] >> site % 8 & 1) != 0;
}

std::optional<uint32_t> BlockChecks::WentPast(size_t point, uint32_t thread) const {
  const uint32_t site = last_sites_[thread];
  if (IsPast(point, site)) return site;
  const uint32_t synced = static_cast<uint32_t>(state_.kernel.sites.size()) +
                          static_cast<uint32_t>(last_regions_[thread]);
  if (IsPast(point, synced)) return synced;
  return std::nullopt;
}

void BlockChecks::PushStack(uint64_t begin, uint64_t size) {
  Span span;
  span.what = "local memory of a device function (" + std::to_string(size) + " bytes)";
  span.begin = begin;
  span.size = size;
  stack_.push_back(std::move(span));
}

void BlockChecks::PopStack(size_t size) {
  for (; stack_.size() > size; stack_.pop_back()) {
    copies_.Forget(stack_.back().begin, stack_.back().size);
  }
}

void BlockChecks::Free(uint64_t address, uint32_t thread, uint32_t site) {
  if (address == 0) return;
  launch_.Settle();
  const auto found = launch_.heap.Find(address, state_.id);
  if (found && found->begin == address && !found->freed && found->shadow != nullptr) {
    // To the threads that use the memory this is a write.
    const Access access{address, found->size, kWrites, thread, site};
    const Place place = FindHeap(access);
    if (place.span->shadow->Prepare(0, found->size)) {
      if (const std::optional<Mark> other = Touch(access, place)) {
        launch_.ReportRace({access, place, *other, block_, Skipped(access, *other)});
        return;
      }
    }
  }
  const CheckedHeap::Freed freed = launch_.heap.Free(address);
  if (freed == CheckedHeap::Freed::kOk) return;
  launch_.ReportFree(address, freed == CheckedHeap::Freed::kTwice, thread, site,
                     block_);
}

}  // namespace jax_rawcuda
