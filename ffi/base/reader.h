// reader.h: bounds-checked reading of little-endian bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace jax_rawcuda {

// Reads past the end, and text that is not UTF-8, give zeros and set `failed()`, which
// stays set. So a caller may read a whole record before it looks.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  bool failed() const { return failed_; }
  size_t position() const { return position_; }
  size_t remaining() const { return bytes_.size() - position_; }

  uint8_t U8() { return static_cast<uint8_t>(Integer(1)); }
  uint32_t U32() { return static_cast<uint32_t>(Integer(4)); }
  // The next four bytes, or 0 if there are fewer.
  uint32_t PeekU32() const {
    Reader ahead = *this;
    return ahead.U32();
  }
  uint64_t U64() { return Integer(8); }

  // A count of records that take at least `record_bytes` each: never more than the rest
  // of the bytes can hold, so that it is safe to reserve memory for.
  size_t Count(size_t record_bytes);
  std::string_view Raw(size_t size);
  std::string Bytes() { return std::string(Raw(U32())); }
  std::string Text();  // UTF-8 without NUL

 private:
  uint64_t Integer(size_t size);

  std::string_view bytes_;
  size_t position_ = 0;
  bool failed_ = false;
};

}  // namespace jax_rawcuda
