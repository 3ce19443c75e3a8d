// matrix_memory.cc: 8x8 matrices of 16-bit elements between memory and registers.
#include <cstring>

#include "ffi/cpu/warp/matrix.h"

namespace jax_rawcuda {
namespace {

struct Matrix8x8 {
  uint16_t at[8][8];
};

uint8_t* RowAddress(const Context& context, const SyncPoint& sync, uint32_t thread) {
  const uint64_t address = context.sync_in[context.thread_stride + thread];
  const bool shared = (sync.aux & 2) != 0;
  return shared ? context.shared + address : reinterpret_cast<uint8_t*>(address);
}

// The two elements of an 8x8 matrix that one register of `lane` holds.
struct ElementPair {
  uint32_t row, column, next_row, next_column;
};
ElementPair PairOf(uint32_t lane, bool transposed) {
  const uint32_t major = lane / 4;
  const uint32_t minor = lane % 4 * 2;
  return transposed ? ElementPair{minor, major, minor + 1, major}
                    : ElementPair{major, minor, major, minor + 1};
}

uint32_t Pack(const Matrix8x8& values, const ElementPair& pair) {
  return uint32_t{values.at[pair.row][pair.column]} |
         uint32_t{values.at[pair.next_row][pair.next_column]} << 16;
}

// `words` holds one register of each lane.
Matrix8x8 Collect(const uint64_t* words, bool transposed) {
  Matrix8x8 values;
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
    const ElementPair pair = PairOf(lane, transposed);
    values.at[pair.row][pair.column] = static_cast<uint16_t>(words[lane]);
    values.at[pair.next_row][pair.next_column] =
        static_cast<uint16_t>(words[lane] >> 16);
  }
  return values;
}

}  // namespace

void LoadMatrices(const Context& context, const SyncPoint& sync, uint32_t first) {
  const bool transposed = (sync.aux & 1) != 0;
  for (uint32_t matrix = 0; matrix < static_cast<uint32_t>(sync.sub); ++matrix) {
    Matrix8x8 values;
    for (uint32_t row = 0; row < 8; ++row) {
      std::memcpy(values.at[row], RowAddress(context, sync, first + matrix * 8 + row),
                  sizeof(values.at[row]));
    }
    uint64_t* const out = context.sync_out + matrix * context.thread_stride + first;
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      out[lane] = Pack(values, PairOf(lane, transposed));
    }
  }
}

void StoreMatrices(const Context& context, const SyncPoint& sync, uint32_t first) {
  const bool transposed = (sync.aux & 1) != 0;
  for (uint32_t matrix = 0; matrix < static_cast<uint32_t>(sync.sub); ++matrix) {
    const Matrix8x8 values = Collect(
        context.sync_in + (2 + matrix) * context.thread_stride + first, transposed);
    for (uint32_t row = 0; row < 8; ++row) {
      std::memcpy(RowAddress(context, sync, first + matrix * 8 + row), values.at[row],
                  sizeof(values.at[row]));
    }
  }
}

void TransposeMatrix(const Context& context, uint32_t first) {
  const Matrix8x8 values =
      Collect(context.sync_in + context.thread_stride + first, true);
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
    context.sync_out[first + lane] = Pack(values, PairOf(lane, false));
  }
}

}  // namespace jax_rawcuda
