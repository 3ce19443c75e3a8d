// matrix.cc: matrix instructions, with the fragment layouts of the PTX manual.
#include "ffi/cpu/matrix.h"

#include <cstring>

#include "ffi/cpu/float16.h"

namespace jax_rawcuda {
namespace {

// The registers that the lanes of one warp bring to an instruction.
class Registers {
 public:
  Registers(const Context& context, uint32_t first, uint32_t slot)
      : slots_(context.sync_in + slot * context.thread_stride + first),
        stride_(context.thread_stride) {}

  uint32_t Word(uint32_t lane, uint32_t i) const {
    return static_cast<uint32_t>(slots_[i * stride_ + lane]);
  }
  uint16_t Half(uint32_t lane, uint32_t i) const {
    return static_cast<uint16_t>(Word(lane, i / 2) >> 16 * (i % 2));
  }
  int8_t Byte(uint32_t lane, uint32_t i) const {
    return static_cast<int8_t>(Word(lane, i / 4) >> 8 * (i % 4));
  }
  float Float(uint32_t lane, uint32_t i) const { return FloatFromBits(Word(lane, i)); }

 private:
  const uint64_t* slots_;
  size_t stride_;
};

// C and D fragments: lane holds row lane / 4 and that row + 8, two columns each.
uint32_t AccumulatorRow(uint32_t lane, uint32_t i) { return lane / 4 + i / 2 % 2 * 8; }
uint32_t AccumulatorColumn(uint32_t lane, uint32_t i) {
  return lane % 4 * 2 + i % 2 + i / 4 * 8;
}

template <typename Element>
struct Operands {
  Element a[16][32];
  Element b[32][16];
};

float HalfToFloat(uint16_t bits, bool bfloat) {
  return bfloat ? FloatFromBfloat16(bits) : FloatFromFloat16(bits);
}

// Fills the operands of one mma.sync and returns its depth k.
uint32_t Unpack(MmaShape shape, const Registers& a, const Registers& b,
                Operands<float>* operands) {
  const bool bfloat = shape == MmaShape::kM16n8k16Bf16;
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
    const uint32_t group = lane / 4;
    const uint32_t member = lane % 4;
    auto& [A, B] = *operands;
    switch (shape) {
      case MmaShape::kM16n8k16F16:
      case MmaShape::kM16n8k16Bf16:
        for (uint32_t i = 0; i < 8; ++i) {
          A[group + i / 2 % 2 * 8][member * 2 + i % 2 + i / 4 * 8] =
              HalfToFloat(a.Half(lane, i), bfloat);
        }
        for (uint32_t i = 0; i < 4; ++i) {
          B[member * 2 + i % 2 + i / 2 * 8][group] =
              HalfToFloat(b.Half(lane, i), bfloat);
        }
        break;
      case MmaShape::kM16n8k8F16:
        for (uint32_t i = 0; i < 4; ++i) {
          A[group + i / 2 * 8][member * 2 + i % 2] =
              HalfToFloat(a.Half(lane, i), false);
        }
        for (uint32_t i = 0; i < 2; ++i) {
          B[member * 2 + i][group] = HalfToFloat(b.Half(lane, i), false);
        }
        break;
      case MmaShape::kM16n8k8Tf32:
        for (uint32_t i = 0; i < 4; ++i) {
          A[group + i % 2 * 8][member + i / 2 * 4] = a.Float(lane, i);
        }
        for (uint32_t i = 0; i < 2; ++i) B[member + i * 4][group] = b.Float(lane, i);
        break;
      default:  // kM16n8k4Tf32
        for (uint32_t i = 0; i < 2; ++i) A[group + i * 8][member] = a.Float(lane, i);
        B[member][group] = b.Float(lane, 0);
        break;
    }
  }
  switch (shape) {
    case MmaShape::kM16n8k16F16:
    case MmaShape::kM16n8k16Bf16:
      return 16;
    case MmaShape::kM16n8k4Tf32:
      return 4;
    default:
      return 8;
  }
}

// D = A B + C for `count` accumulator registers of each lane.
void MultiplyFloats(const Context& context, const Operands<float>& operands,
                    uint32_t depth, const Registers& c, uint32_t count,
                    uint32_t first) {
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
    for (uint32_t i = 0; i < count; ++i) {
      float sum = c.Float(lane, i);
      for (uint32_t k = 0; k < depth; ++k) {
        sum += operands.a[AccumulatorRow(lane, i)][k] *
               operands.b[k][AccumulatorColumn(lane, i)];
      }
      context.sync_out[i * context.thread_stride + first + lane] = BitsFromFloat(sum);
    }
  }
}

void MultiplyBytes(const Context& context, const Registers& a, const Registers& b,
                   const Registers& c, uint32_t first) {
  Operands<int32_t> operands;
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
    const uint32_t group = lane / 4;
    const uint32_t column = lane % 4 * 4;
    for (uint32_t i = 0; i < 16; ++i) {
      operands.a[group + i / 4 % 2 * 8][column + i % 4 + i / 8 * 16] = a.Byte(lane, i);
    }
    for (uint32_t i = 0; i < 8; ++i) {
      operands.b[column + i % 4 + i / 4 * 16][group] = b.Byte(lane, i);
    }
  }
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
    for (uint32_t i = 0; i < 4; ++i) {
      uint32_t sum = c.Word(lane, i);  // wraps, as on the device
      for (uint32_t k = 0; k < 32; ++k) {
        sum += static_cast<uint32_t>(operands.a[AccumulatorRow(lane, i)][k] *
                                     operands.b[k][AccumulatorColumn(lane, i)]);
      }
      context.sync_out[i * context.thread_stride + first + lane] = sum;
    }
  }
}

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

}  // namespace

void MultiplyMma(const Context& context, const SyncPoint& sync, uint32_t first) {
  const auto a_registers = static_cast<uint32_t>(sync.aux & 255);
  const auto b_registers = static_cast<uint32_t>(sync.aux >> 8);
  const Registers a(context, first, 1);
  const Registers b(context, first, 1 + a_registers);
  const Registers c(context, first, 1 + a_registers + b_registers);
  const auto shape = static_cast<MmaShape>(sync.sub);
  if (shape == MmaShape::kM16n8k32S8) return MultiplyBytes(context, a, b, c, first);
  Operands<float> operands;
  const uint32_t depth = Unpack(shape, a, b, &operands);
  MultiplyFloats(context, operands, depth, c, 4, first);
}

void MultiplyWmma(const Context& context, uint32_t first) {
  const Registers a(context, first, 1);
  const Registers b(context, first, 9);
  Operands<float> operands;
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
    const uint32_t group = lane / 4;
    const uint32_t column = lane % 4 * 2;
    for (uint32_t i = 0; i < 8; ++i) {
      operands.a[group + i / 2 % 2 * 8][column + i % 2 + i / 4 * 8] =
          FloatFromFloat16(a.Half(lane, i));
      operands.b[column + i % 2 + i / 2 % 2 * 8][group + i / 4 * 8] =
          FloatFromFloat16(b.Half(lane, i));
    }
  }
  MultiplyFloats(context, operands, 16, Registers(context, first, 17), 8, first);
}

void LoadMatrices(const Context& context, const SyncPoint& sync, uint32_t first) {
  const bool transposed = (sync.aux & 1) != 0;
  for (uint32_t matrix = 0; matrix < static_cast<uint32_t>(sync.sub); ++matrix) {
    Matrix8x8 values;
    for (uint32_t row = 0; row < 8; ++row) {
      std::memcpy(values.at[row], RowAddress(context, sync, first + matrix * 8 + row),
                  sizeof(values.at[row]));
    }
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      const ElementPair pair = PairOf(lane, transposed);
      context.sync_out[matrix * context.thread_stride + first + lane] =
          uint32_t{values.at[pair.row][pair.column]} |
          uint32_t{values.at[pair.next_row][pair.next_column]} << 16;
    }
  }
}

void StoreMatrices(const Context& context, const SyncPoint& sync, uint32_t first) {
  const bool transposed = (sync.aux & 1) != 0;
  for (uint32_t matrix = 0; matrix < static_cast<uint32_t>(sync.sub); ++matrix) {
    const Registers data(context, first, 2 + matrix);
    Matrix8x8 values;
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      const ElementPair pair = PairOf(lane, transposed);
      values.at[pair.row][pair.column] = data.Half(lane, 0);
      values.at[pair.next_row][pair.next_column] = data.Half(lane, 1);
    }
    for (uint32_t row = 0; row < 8; ++row) {
      std::memcpy(RowAddress(context, sync, first + matrix * 8 + row), values.at[row],
                  sizeof(values.at[row]));
    }
  }
}

}  // namespace jax_rawcuda
