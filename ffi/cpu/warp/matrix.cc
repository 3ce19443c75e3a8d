// matrix.cc: products of matrices, with the fragment layouts of the PTX manual.
#include "ffi/cpu/warp/matrix.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "ffi/cpu/base/bit_tricks.h"
#include "ffi/cpu/base/float16.h"
#include "ffi/cpu/warp/collectives.h"

namespace jax_rawcuda {
namespace {

constexpr uint32_t kMaxRows = 32;   // of A, and columns of B
constexpr uint32_t kMaxDepth = 64;  // columns of A, and rows of B

// The fields of a SyncPoint, as jax_rawcuda/cpu/sync/products.py packs them.
struct Product {
  explicit Product(const SyncPoint& sync)
      : wmma(KindOf(sync) == SyncKind::kWmma),
        a(Kind(sync.sub)),
        b(Kind(sync.sub >> 8)),
        c(Kind(sync.sub >> 16)),
        d(Kind(sync.sub >> 24)),
        m(sync.aux & 255),
        n(sync.aux >> 8 & 255),
        k(sync.aux >> 16 & 255),
        a_registers(sync.immediate0 & 255),
        b_registers(sync.immediate0 >> 8 & 255),
        saturate(sync.immediate1 != 0) {}

  static ElementKind Kind(int32_t bits) { return static_cast<ElementKind>(bits & 255); }

  bool wmma;
  ElementKind a, b, c, d;
  uint32_t m, n, k;
  uint32_t a_registers, b_registers;
  bool saturate;
};

uint32_t BitsOf(ElementKind kind) {
  switch (kind) {
    case ElementKind::kF16:
    case ElementKind::kBf16:
      return 16;
    case ElementKind::kF64:
      return 64;
    case ElementKind::kS8:
    case ElementKind::kU8:
    case ElementKind::kE4m3:
    case ElementKind::kE5m2:
      return 8;
    case ElementKind::kS4:
    case ElementKind::kU4:
      return 4;
    default:
      return 32;
  }
}

// How many elements one register holds.
uint32_t PackOf(ElementKind kind) { return std::max(32 / BitsOf(kind), 1u); }

// The registers that the lanes of one warp bring to an instruction.
class Registers {
 public:
  Registers(const Context& context, uint32_t first, uint32_t slot, ElementKind kind)
      : slots_(context.sync_in + slot * context.thread_stride + first),
        stride_(context.thread_stride),
        bits_(BitsOf(kind)),
        pack_(PackOf(kind)) {}

  uint64_t Element(uint32_t lane, uint32_t i) const {
    const uint64_t word = slots_[i / pack_ * stride_ + lane];
    if (bits_ == 64) return word;
    return word >> bits_ * (i % pack_) & ((uint64_t{1} << bits_) - 1);
  }

 private:
  const uint64_t* slots_;
  size_t stride_;
  uint32_t bits_, pack_;
};

// Where element number i of a lane's fragment stands.
struct Place {
  uint32_t row, column;
};

// Two neighbours of each 8x8 part, parts down the columns first.
Place PlaceInParts(uint32_t rows, uint32_t lane, uint32_t i) {
  const uint32_t part = i / 2;
  return {lane / 4 + part % (rows / 8) * 8,
          lane % 4 * 2 + i % 2 + part / (rows / 8) * 8};
}

Place PlaceInA(const Product& p, uint32_t lane, uint32_t i) {
  if (p.wmma && p.k > 4) return PlaceInParts(p.m, lane, i);
  const uint32_t pack = PackOf(p.a);
  const uint32_t word = i / pack;
  const uint32_t halves = p.m == 8 ? 1 : 2;  // rows 0 to 7, then 8 to 15
  return {lane / 4 + word % halves * 8,
          lane % 4 * pack + i % pack + word / halves * 4 * pack};
}

Place PlaceInB(const Product& p, uint32_t lane, uint32_t i) {
  if (p.wmma && p.k > 4) {
    const Place mirrored = PlaceInParts(p.k, lane, i);
    return {mirrored.row - lane / 4 + mirrored.column % 8,
            mirrored.column / 8 * 8 + lane / 4};
  }
  const uint32_t pack = PackOf(p.b);
  return {lane % 4 * pack + i % pack + i / pack * 4 * pack, lane / 4};
}

float DecodeFp8(uint32_t bits, uint32_t mantissa_bits) {
  // A float16 of the same sign and exponent range holds either format exactly.
  const uint32_t sign = bits >> 7 << 15;
  const uint32_t magnitude = bits & 0x7F;
  if (mantissa_bits == 2) return FloatFromFloat16(static_cast<uint16_t>(bits << 8));
  if (magnitude == 0x7F) return std::numeric_limits<float>::quiet_NaN();
  // Bias 15 instead of 7: the value comes out 2^-8 times as large.
  return FloatFromFloat16(static_cast<uint16_t>(sign | magnitude << 7)) * 256.0f;
}

void Decode(ElementKind kind, uint64_t bits, float* value) {
  const auto word = static_cast<uint32_t>(bits);
  switch (kind) {
    case ElementKind::kF16:
      *value = FloatFromFloat16(static_cast<uint16_t>(word));
      return;
    case ElementKind::kBf16:
      *value = FloatFromBfloat16(static_cast<uint16_t>(word));
      return;
    case ElementKind::kE4m3:
      *value = DecodeFp8(word, 3);
      return;
    case ElementKind::kE5m2:
      *value = DecodeFp8(word, 2);
      return;
    case ElementKind::kTf32:  // the device does not look at the low bits
      *value = FloatFromBits(word & 0xFFFFE000u);
      return;
    default:
      *value = FloatFromBits(word);
      return;
  }
}

void Decode(ElementKind, uint64_t bits, double* value) {
  std::memcpy(value, &bits, sizeof(bits));
}

void Decode(ElementKind kind, uint64_t bits, int32_t* value) {
  switch (kind) {
    case ElementKind::kS8:
      *value = static_cast<int8_t>(bits);
      return;
    case ElementKind::kS4:
      *value = static_cast<int32_t>(bits ^ 8) - 8;
      return;
    default:
      *value = static_cast<int32_t>(bits);
      return;
  }
}

// One step of a dot product. Integers are summed in twice their width.
float AddProduct(const Product&, float sum, float a, float b) { return sum + a * b; }
double AddProduct(const Product&, double sum, double a, double b) {
  return sum + a * b;
}
int64_t AddProduct(const Product& p, int64_t sum, int32_t a, int32_t b) {
  if (p.a == ElementKind::kBitsXor)
    return sum + CountBits(static_cast<uint32_t>(a ^ b));
  if (p.a == ElementKind::kBitsAnd)
    return sum + CountBits(static_cast<uint32_t>(a & b));
  return sum + int64_t{a} * b;
}

uint64_t Encode(const Product& p, float value) {
  if (p.d == ElementKind::kF16) return RoundToSmall(value, kFloat16);
  return BitsFromFloat(value);
}
uint64_t Encode(const Product&, double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}
uint64_t Encode(const Product& p, int64_t value) {
  if (p.saturate) {
    value = std::clamp<int64_t>(value, std::numeric_limits<int32_t>::min(),
                                std::numeric_limits<int32_t>::max());
  }
  return static_cast<uint32_t>(value);
}

template <typename T>
struct SumOf {
  using Type = T;
};
template <>
struct SumOf<int32_t> {
  using Type = int64_t;
};

template <typename T>
void Multiply(const Context& context, const Product& p, uint32_t first) {
  const Registers a(context, first, 1, p.a);
  const Registers b(context, first, 1 + p.a_registers, p.b);
  const Registers c(context, first, 1 + p.a_registers + p.b_registers, p.c);
  T rows[kMaxRows][kMaxDepth], columns[kMaxRows][kMaxDepth];
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
    for (uint32_t i = 0; i < p.m * p.k / kWarpSize; ++i) {
      const Place place = PlaceInA(p, lane, i);
      Decode(p.a, a.Element(lane, i), &rows[place.row][place.column]);
    }
    for (uint32_t i = 0; i < p.k * p.n / kWarpSize; ++i) {
      const Place place = PlaceInB(p, lane, i);
      Decode(p.b, b.Element(lane, i), &columns[place.column][place.row]);
    }
  }
  const uint32_t pack = PackOf(p.d);
  const uint32_t bits = BitsOf(p.d);
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
    for (uint32_t i = 0; i < p.m * p.n / kWarpSize; ++i) {
      const Place place = PlaceInParts(p.m, lane, i);
      T start;
      Decode(p.c, c.Element(lane, i), &start);
      typename SumOf<T>::Type sum = start;
      for (uint32_t k = 0; k < p.k; ++k) {
        sum = AddProduct(p, sum, rows[place.row][k], columns[place.column][k]);
      }
      uint64_t& word =
          context.sync_out[i / pack * context.thread_stride + first + lane];
      const uint64_t low = i % pack == 0 ? 0 : word;
      word = low | Encode(p, sum) << bits * (i % pack);
    }
  }
}

}  // namespace

void MultiplyMatrices(const Context& context, const SyncPoint& sync, uint32_t first) {
  const Product product(sync);
  switch (product.d) {
    case ElementKind::kF64:
      return Multiply<double>(context, product, first);
    case ElementKind::kS32:
      return Multiply<int32_t>(context, product, first);
    default:
      return Multiply<float>(context, product, first);
  }
}

}  // namespace jax_rawcuda
