// shadow.h: who has touched which bytes of a buffer, and when.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <utility>

namespace jax_rawcuda {

// One access, as the shadow remembers it. A time of 0 means that there was none.
struct Mark {
  uint32_t time;
  uint32_t block;  // linear index, of which the low bits tell neighbours apart
  uint32_t thread : 10;
  uint32_t atomic : 1;
  uint32_t in_block : 1;  // atomic for the threads of its block only
  uint32_t site : 20;
};
inline constexpr uint32_t kSiteMask = (1u << 20) - 1;

// The block of marks that no thread has made.
inline constexpr uint32_t kNoBlock = ~0u;

// The last plain and the last atomic write of a few bytes, and the last reads by two
// different threads.
struct Cell {
  Mark write, update, read, earlier_read;

  bool WrittenSince(uint32_t time) const {
    return write.time >= time || update.time >= time;
  }
};

// Cells for the bytes of one buffer: one per word until something touches less.
class Shadow {
 public:
  explicit Shadow(uint64_t bytes) : bytes_(bytes) {}

  // Gets cells that [offset, offset + size) consists of; false when there is no memory.
  bool Prepare(uint64_t offset, uint64_t size) {
    if (cells_ == nullptr && !Allocate()) return false;
    return ((offset | size) % granule_ == 0) || Refine();
  }

  // The cells of a prepared range. Untouched memory has no cells at all.
  Cell* begin(uint64_t offset) const { return cells_.get() + offset / granule_; }
  Cell* end(uint64_t offset, uint64_t size) const {
    return begin(offset) + size / granule_;
  }

  bool WrittenByte(uint64_t offset) const {
    return cells_ != nullptr && begin(offset)->WrittenSince(1);
  }

 private:
  struct Free {
    void operator()(Cell* cells) const { std::free(cells); }
  };
  using Cells = std::unique_ptr<Cell[], Free>;

  // Zeroed pages that nobody touches take no memory.
  static Cells Zeroed(uint64_t count) {
    return Cells(static_cast<Cell*>(std::calloc(count, sizeof(Cell))));
  }
  bool Allocate() {
    cells_ = Zeroed(bytes_ / granule_ + 1);
    return cells_ != nullptr;
  }
  bool Refine() {
    Cells bytes = Zeroed(bytes_ + granule_);
    if (bytes == nullptr) return false;
    for (uint64_t i = 0; i < bytes_; ++i) {
      const Cell& cell = cells_[i / granule_];
      if (cell.WrittenSince(1) || cell.read.time != 0) bytes[i] = cell;
    }
    cells_ = std::move(bytes);
    granule_ = 1;
    return true;
  }

  uint64_t bytes_;
  uint64_t granule_ = 4;
  Cells cells_;
};

}  // namespace jax_rawcuda
