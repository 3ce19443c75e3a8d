// mbarrier.cc: barriers that live in shared memory as one 64-bit word.
#include "ffi/cpu/helpers/mbarrier.h"

#include "ffi/cpu/helpers/symbols.h"

namespace jax_rawcuda {
namespace {

// The word's fields. The threads of a block run one at a time, so plain accesses do.
struct Word {
  uint32_t pending;   // arrivals left in this phase: bits 0 to 19
  uint32_t expected;  // arrivals of each phase: bits 20 to 39
  uint32_t bytes;     // outstanding bytes, plus kNoBytes: bits 40 to 62
  uint32_t phase;     // bit 63
};

constexpr uint32_t kCountMask = (1u << 20) - 1;
constexpr uint32_t kBytesMask = (1u << 23) - 1;
// Bytes may complete before they are expected, so the count goes below this and back.
constexpr uint32_t kNoBytes = 1u << 22;

Word Unpack(uint64_t bits) {
  return {static_cast<uint32_t>(bits) & kCountMask,
          static_cast<uint32_t>(bits >> 20) & kCountMask,
          static_cast<uint32_t>(bits >> 40) & kBytesMask,
          static_cast<uint32_t>(bits >> 63)};
}

uint64_t Pack(const Word& word) {
  return uint64_t{word.pending & kCountMask} |
         uint64_t{word.expected & kCountMask} << 20 |
         uint64_t{word.bytes & kBytesMask} << 40 | uint64_t{word.phase} << 63;
}

// Packs, after going over to the next phase if nothing is outstanding.
uint64_t PackCompleted(Word word) {
  if (word.pending == 0 && word.bytes == kNoBytes) {
    word.pending = word.expected;
    word.phase ^= 1;
  }
  return Pack(word);
}

void jrc_mbar_init(uint64_t* barrier, uint32_t count) {
  *barrier = Pack({count, count, kNoBytes, 0});
}

void jrc_mbar_expect_tx(uint64_t* barrier, uint32_t bytes) {
  Word word = Unpack(*barrier);
  word.bytes += bytes;
  *barrier = Pack(word);
}

void jrc_mbar_complete_tx(uint64_t* barrier, uint32_t bytes) {
  CompleteBytes(barrier, bytes);
}

// Returns the word before the arrival, the token of the phase.
uint64_t jrc_mbar_arrive(uint64_t* barrier, uint32_t count, uint32_t drop) {
  const uint64_t token = *barrier;
  Word word = Unpack(token);
  word.pending = (word.pending - count) & kCountMask;
  if (drop != 0) word.expected -= count;
  *barrier = PackCompleted(word);
  return token;
}

bool jrc_mbar_test(const uint64_t* barrier, uint64_t token) {
  return (*barrier >> 63) != (token >> 63);
}

bool jrc_mbar_test_parity(const uint64_t* barrier, uint32_t parity) {
  return (*barrier >> 63) != (parity & 1);
}

}  // namespace

void CompleteBytes(uint64_t* barrier, uint32_t bytes) {
  Word word = Unpack(*barrier);
  word.bytes = (word.bytes - bytes) & kBytesMask;
  *barrier = PackCompleted(word);
}

void AppendMbarriers(SymbolTable& table) {
  table.insert(table.end(), {
                                JRC_SYMBOL(jrc_mbar_init),
                                JRC_SYMBOL(jrc_mbar_expect_tx),
                                JRC_SYMBOL(jrc_mbar_complete_tx),
                                JRC_SYMBOL(jrc_mbar_arrive),
                                JRC_SYMBOL(jrc_mbar_test),
                                JRC_SYMBOL(jrc_mbar_test_parity),
                            });
}

}  // namespace jax_rawcuda
