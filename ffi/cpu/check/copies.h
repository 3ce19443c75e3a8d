// copies.h: what nobody has written, on its way through registers and memory.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "ffi/cpu/check/access.h"

namespace jax_rawcuda {

// A struct is copied with fields that are not used, so a load that only feeds stores is
// no mistake; a use of what they have stored is. Almost always there is nothing here.
class Copies {
 public:
  void Clear() {
    carried_.clear();
    stored_.clear();
  }

  // A load of a copy has read this.
  void Carry(const Access& load, const std::optional<Unwritten>& read) {
    const auto key = std::make_pair(load.thread, load.copy());
    if (read) {
      carried_.insert_or_assign(key, *read);
    } else if (!carried_.empty()) {
      carried_.erase(key);
    }
  }
  std::optional<Unwritten> Carried(const Access& store) const {
    if (store.copy() == 0 || carried_.empty()) return std::nullopt;
    const auto found = carried_.find({store.thread, store.copy()});
    if (found == carried_.end()) return std::nullopt;
    return found->second;
  }

  // Memory gets a copy of it, or is written by others.
  void Store(const Access& store, const Unwritten& value) {
    for (uint64_t i = 0; i < store.bytes; ++i) {
      stored_.insert_or_assign(store.address + i, value);
    }
  }
  void Forget(uint64_t address, uint64_t bytes) {
    for (uint64_t i = 0; i < bytes && !stored_.empty(); ++i) stored_.erase(address + i);
  }

  // The read that all of these bytes come from.
  std::optional<Unwritten> Find(uint64_t address, uint64_t bytes) const {
    if (stored_.empty()) return std::nullopt;
    for (uint64_t i = 0; i < bytes; ++i) {
      if (stored_.count(address + i) == 0) return std::nullopt;
    }
    return stored_.at(address);
  }

 private:
  std::map<std::pair<uint32_t, uint32_t>, Unwritten> carried_;  // by thread and load
  std::unordered_map<uint64_t, Unwritten> stored_;              // by byte
};

}  // namespace jax_rawcuda
