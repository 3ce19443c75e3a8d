// reader.cc: little-endian integers and UTF-8 text.
#include "ffi/base/reader.h"

namespace jax_rawcuda {
namespace {

// Names end up in XLA's error texts, which become Python strings.
bool IsText(std::string_view bytes) {
  for (size_t i = 0; i < bytes.size();) {
    const uint8_t lead = bytes[i];
    if (lead == 0) return false;
    const int length = lead < 0x80             ? 1
                       : (lead & 0xE0) == 0xC0 ? 2
                       : (lead & 0xF0) == 0xE0 ? 3
                       : (lead & 0xF8) == 0xF0 ? 4
                                               : 0;
    if (length == 0 || bytes.size() - i < static_cast<size_t>(length)) return false;
    uint32_t code = length == 1 ? lead : lead & (0x7F >> length);
    for (int k = 1; k < length; ++k) {
      const uint8_t next = bytes[i + k];
      if ((next & 0xC0) != 0x80) return false;
      code = code << 6 | (next & 0x3F);
    }
    constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
    const bool surrogate = code >= 0xD800 && code < 0xE000;
    if (code < kSmallest[length] || code > 0x10FFFF || surrogate) return false;
    i += length;
  }
  return true;
}

}  // namespace

size_t Reader::Count(size_t record_bytes) {
  const size_t count = U32();
  if (count > remaining() / record_bytes) failed_ = true;
  return failed_ ? 0 : count;
}

std::string_view Reader::Raw(size_t size) {
  if (failed_ || size > remaining()) {
    failed_ = true;
    return {};
  }
  const std::string_view result = bytes_.substr(position_, size);
  position_ += size;
  return result;
}

std::string Reader::Text() {
  const std::string_view raw = Raw(U32());
  if (!IsText(raw)) {
    failed_ = true;
    return {};
  }
  return std::string(raw);
}

uint64_t Reader::Integer(size_t size) {
  uint64_t value = 0;
  const std::string_view raw = Raw(size);
  for (size_t i = 0; i < raw.size(); ++i) {
    value |= static_cast<uint64_t>(static_cast<uint8_t>(raw[i])) << (8 * i);
  }
  return value;
}

}  // namespace jax_rawcuda
