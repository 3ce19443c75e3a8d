// report.cc: the messages of a checked launch.
#include "ffi/cpu/check/launch.h"
#include "ffi/cpu/launch/faults.h"

namespace jax_rawcuda {
namespace {

std::string Bytes(uint64_t count) {
  return std::to_string(count) + (count == 1 ? " byte" : " bytes");
}

std::string Action(const Access& access) {
  const char* word = !access.has(kWrites) ? "read"
                     : access.has(kReads) ? "atomic update"
                                          : "write";
  return std::string(word) + " of " + Bytes(access.bytes);
}

// "byte offset 4096 (element 1024)".
std::string Position(const Access& access, const Place& place) {
  std::string text = "byte offset " + std::to_string(place.offset);
  int64_t item = place.span->item_bytes;
  if (item == 0) item = access.bytes <= 8 ? static_cast<int64_t>(access.bytes) : 1;
  if (item <= 1) return text;
  // Elements before the first have negative numbers.
  const int64_t element = (place.offset - (place.offset < 0 ? item - 1 : 0)) / item;
  return text + " (element " + std::to_string(element) + ")";
}

}  // namespace

std::string LaunchChecks::At(uint32_t site) const {
  const auto& sites = launch_->kernel.sites;
  const auto& syncs = launch_->kernel.sync_texts;
  if (site >= sites.size() + syncs.size()) return "";
  const std::string& text =
      site < sites.size() ? sites[site] : syncs[site - sites.size()];
  const size_t colon = text.find(": ");
  if (colon == std::string::npos) return " at `" + text + "`";
  return " at " + text.substr(0, colon) + " (`" + text.substr(colon + 2) + "`)";
}

std::string LaunchChecks::Who(uint64_t thread, uint64_t block, uint32_t site) const {
  return "thread " + ToString(Unravel(thread, launch_->block)) + ", block " +
         ToString(Unravel(block, launch_->grid)) + At(site);
}

void LaunchChecks::ReportBounds(const Access& access, const Place& place,
                                uint64_t block) {
  const auto size = static_cast<int64_t>(place.span->size);
  std::string where;
  if (place.offset < 0) {
    where = Bytes(static_cast<uint64_t>(-place.offset)) + " before its start";
  } else if (place.offset < size) {
    const auto end = place.offset + static_cast<int64_t>(access.bytes);
    where =
        "which goes " + Bytes(static_cast<uint64_t>(end - size)) + " beyond its end";
  } else {
    where = Bytes(static_cast<uint64_t>(place.offset - size)) + " past its end";
  }
  const char* advice =
      !place.span->dynamic ? "Compare the index with the size before the access."
      : size == 0          ? "Give the launch shared_mem_bytes=: it has none."
                           : "Compare the index with the size before the access, or "
                             "give the launch more shared_mem_bytes=.";
  Fail(place.span->what + ": out of bounds " + Action(access) + " at " +
       Position(access, place) + ", " + where + " (" + Bytes(place.span->size) +
       "), by " + Who(access.thread, block, access.site) + ". " + advice);
}

void LaunchChecks::ReportMisaligned(const Access& access, const Place& place,
                                    uint64_t block) {
  const uint64_t needed = access.alignment();
  const uint64_t begin = access.address - static_cast<uint64_t>(place.offset);
  const std::string advice = begin % needed == 0
                                 ? "Align the index, or use a narrower type."
                                 : "Declare it with alignas(" + std::to_string(needed) +
                                       "), or use a narrower type.";
  Fail(place.span->what + ": misaligned " + Action(access) + " at " +
       Position(access, place) + ", by " + Who(access.thread, block, access.site) +
       "; it needs a multiple of " + std::to_string(needed) + " bytes. " + advice);
}

void LaunchChecks::ReportReadOnly(const Access& access, const Place& place,
                                  uint64_t block) {
  Fail(place.span->what + ": " + Action(access) + " at " + Position(access, place) +
       " of read-only memory, by " + Who(access.thread, block, access.site) +
       ". Write to an output, or pass the array in place (in_out, s.tensor_mut).");
}

void LaunchChecks::ReportUninitialized(const Access& access, const Place& place,
                                       uint64_t block) {
  Fail(place.span->what + ": " + Action(access) + " at " + Position(access, place) +
       " that nothing has written, by " + Who(access.thread, block, access.site) +
       (place.span->per_block
            ? ". Write it first, with __syncthreads() between the write and the read."
            : ". Write it first; outputs and workspaces can be allocated with fill=."));
}

void LaunchChecks::ReportRace(const Race& race) {
  const Access& access = race.access;
  const Mark& other = race.other;
  const auto thread = [&](uint64_t index) {
    return "thread " + ToString(Unravel(index, launch_->block));
  };
  std::string advice;
  if (race.skipped) {
    const std::string& barrier = launch_->kernel.sync_texts[*race.skipped];
    advice = ": " + thread(other.thread) + " waits at the __syncthreads() at " +
             barrier.substr(0, barrier.find(": ")) + ", which " +
             thread(access.thread) +
             " has gone past. All threads of a block must come to the same barrier: "
             "move it out of the branch or loop.";
  } else if (other.block != static_cast<uint32_t>(race.block)) {
    advice =
        ". Blocks run in any order: use an atomic operation of device scope, with "
        "__threadfence() between it and what it announces, separate elements or a "
        "second launch.";
  } else {
    advice =
        ". Put __syncthreads() (or __syncwarp() within a warp) between them, or use "
        "an atomic operation.";
  }
  Fail(race.place.span->what + ": data race at " + Position(access, race.place) +
       ": the " + Action(access) + " by " +
       Who(access.thread, race.block, access.site) + " and an access by " +
       Who(other.thread, other.block, other.site) + " are not ordered" + advice);
}

void LaunchChecks::ReportNowhere(const Access& access, uint64_t block) {
  constexpr uint64_t kNearNull = uint64_t{1} << 24;
  const uint64_t address = access.address & kAddressMask;
  const bool null = TagOf(access.address) == 0 && address < kNearNull;
  Fail(std::string(null ? "null pointer" : "wild pointer") + ": " + Action(access) +
       " at address " + Hex(access.address) +
       ", which is in no buffer of this launch, by " +
       Who(access.thread, block, access.site) + ". " +
       (null ? "Pass an array for the pointer, or test it before the access."
             : "Check how the pointer is computed."));
}

void LaunchChecks::ReportFreed(const Access& access, const Place& place,
                               uint64_t block) {
  Fail(place.span->what + ": " + Action(access) + " at " + Position(access, place) +
       " after free, by " + Who(access.thread, block, access.site) +
       ". Free the memory after its last use.");
}

void LaunchChecks::ReportFree(uint64_t address, bool twice, uint32_t thread,
                              uint32_t site, uint64_t block) {
  Fail("free of " + Hex(address) +
       (twice ? ", which is free already, by "
              : ", which malloc has not returned, by ") +
       Who(thread, block, site) + ". Free each allocation once.");
}

}  // namespace jax_rawcuda
