// plan.cc: the first half of DecodePlan, what the commands refer to.
#include "ffi/plan/plan.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "ffi/base/reader.h"
#include "ffi/base/text.h"
#include "ffi/plan/commands.h"

namespace jax_rawcuda {
namespace {

constexpr int kAlignmentShift = 56;  // the size of a result is in the lower bits
constexpr uint64_t kMaxAlignmentBits = 12;
constexpr size_t kBlobBytes = 32 + 3 * 8;

constexpr uint64_t kMaxParameterBytes = 32764;
constexpr uint64_t kMaxAtOnce = 65535;
constexpr uint64_t kMaxBatchElements = std::numeric_limits<int32_t>::max();

class Decoder {
 public:
  Decoder(std::string_view bytes, size_t image_bytes)
      : reader_(bytes), image_bytes_(image_bytes) {}

  Result<Plan> Decode() {
    if (reader_.U32() != kPlanMagic) {
      return InvalidArgument(
          "jax_rawcuda: malformed plan: it does not begin with 'JRC1'. It was written "
          "by something else, or damaged.");
    }
    plan_.op_name = reader_.Text();
    RETURN_IF_ERROR(Buffers());
    RETURN_IF_ERROR(BatchAxes());
    RETURN_IF_ERROR(Images());
    RETURN_IF_ERROR(Functions());
    RETURN_IF_ERROR(DecodeCommands(reader_, plan_));
    RETURN_IF_ERROR(DecodeLabels(reader_, plan_));
    if (reader_.remaining() != 0) {
      return Malformed(Str(reader_.remaining()) + " bytes follow the last command");
    }
    return std::move(plan_);
  }

 private:
  Status Malformed(const std::string& detail) const {
    return MalformedPlan(plan_, detail);
  }
  Status Readable(const std::string& record) const {
    return CheckReadable(reader_, plan_, record);
  }

  Status Buffers() {
    for (auto* sizes : {&plan_.operand_bytes, &plan_.result_bytes}) {
      const size_t count = reader_.Count(8);
      sizes->reserve(count);
      for (size_t i = 0; i < count; ++i) sizes->push_back(reader_.U64());
    }
    RETURN_IF_ERROR(Readable("the list of buffers"));
    for (uint64_t& bytes : plan_.result_bytes) {
      const uint64_t bits = bytes >> kAlignmentShift;
      bytes &= (uint64_t{1} << kAlignmentShift) - 1;
      if (bits > kMaxAlignmentBits) {
        return Malformed("a result is aligned to 2^" + Str(bits) + " bytes");
      }
      plan_.result_alignments.push_back(uint64_t{1} << bits);
    }
    const size_t count = plan_.operand_bytes.size() + plan_.result_bytes.size();
    if (count > kMaxBuffers) {
      return Malformed(Str(count) + " operands and results; the limit is " +
                       Str(kMaxBuffers));
    }
    return Status();
  }

  Status BatchAxes() {
    const size_t buffers = plan_.operand_bytes.size() + plan_.result_bytes.size();
    plan_.at_once = reader_.U32();
    const size_t count = reader_.Count(8 + 8 * buffers);
    if (count > kMaxBatchAxes) {
      return Malformed(Str(count) + " batch axes; the limit is " + Str(kMaxBatchAxes));
    }
    for (size_t i = 0; i < count; ++i) {
      BatchAxis axis;
      axis.size = reader_.U64();
      for (size_t k = 0; k < plan_.operand_bytes.size(); ++k) {
        axis.operand_strides.push_back(reader_.U64());
      }
      for (size_t k = 0; k < plan_.result_bytes.size(); ++k) {
        axis.result_strides.push_back(reader_.U64());
      }
      if (__builtin_mul_overflow(plan_.batch_elements, axis.size,
                                 &plan_.batch_elements) ||
          plan_.batch_elements > kMaxBatchElements) {
        return Malformed("more than " + Str(kMaxBatchElements) + " batch elements");
      }
      plan_.batch_axes.push_back(std::move(axis));
    }
    plan_.own_strides.assign(plan_.result_bytes.size(), 0);
    if (count != 0) RETURN_IF_ERROR(OwnStrides());
    RETURN_IF_ERROR(Readable("the list of batch axes"));
    if (plan_.at_once < 1 || plan_.at_once > kMaxAtOnce) {
      return Malformed(Str(plan_.at_once) + " batch elements at once");
    }
    RETURN_IF_ERROR(Extents(plan_.operand_bytes, &BatchAxis::operand_strides,
                            plan_.operand_extents));
    RETURN_IF_ERROR(
        Extents(plan_.result_bytes, &BatchAxis::result_strides, plan_.result_extents));
    for (size_t i = 0; i < plan_.own_strides.size(); ++i) {
      if (plan_.own_strides[i] == 0 || plan_.batch_elements == 0) continue;
      // Bounded by the extent of the whole batch, which did not overflow.
      const uint64_t others = std::min(plan_.at_once, plan_.batch_elements) - 1;
      plan_.result_extents[i] = plan_.result_bytes[i] + plan_.own_strides[i] * others;
    }
    return Status();
  }

  Status OwnStrides() {
    const size_t results = reader_.Count(8);
    if (results != plan_.result_bytes.size()) {
      return Malformed(Str(results) + " strides of " + Str(plan_.result_bytes.size()) +
                       " results");
    }
    for (size_t i = 0; i < results; ++i) {
      plan_.own_strides[i] = reader_.U64();
      const uint64_t inner = plan_.batch_axes.back().result_strides[i];
      if (plan_.own_strides[i] != 0 && plan_.own_strides[i] != inner) {
        return Malformed("result " + Str(i) + " has two strides");
      }
    }
    return Status();
  }

  Status Extents(const std::vector<uint64_t>& bytes,
                 std::vector<uint64_t> BatchAxis::* strides,
                 std::vector<uint64_t>& extents) const {
    for (size_t i = 0; i < bytes.size(); ++i) {
      uint64_t extent = plan_.batch_elements == 0 ? 0 : bytes[i];
      for (const BatchAxis& axis : plan_.batch_axes) {
        uint64_t last;
        if (plan_.batch_elements == 0) break;
        if (__builtin_mul_overflow(axis.size - 1, (axis.*strides)[i], &last) ||
            __builtin_add_overflow(extent, last, &extent)) {
          return Malformed("a batch stride leads outside of the address space");
        }
      }
      extents.push_back(extent);
    }
    return Status();
  }

  Status Images() {
    const size_t count = reader_.Count(1 + kBlobBytes);
    for (size_t i = 0; i < count; ++i) {
      const std::string name = "image " + Str(i);
      const uint8_t tag = reader_.U8();
      const bool has_variables = Has(tag, ImageFlag::kHasVariables);
      const uint8_t kind = tag & ~static_cast<uint8_t>(ImageFlag::kHasVariables);
      ImageEntry image{static_cast<ImageKind>(kind), ReadBlob(), {}};
      if (has_variables) image.variables = ReadBlob();
      RETURN_IF_ERROR(Readable(name));
      if (!IsKnown(image.kind)) return Malformed(name + " has kind " + Str(kind));
      RETURN_IF_ERROR(CheckBlob(image.code, name));
      if (image.variables) {
        RETURN_IF_ERROR(CheckBlob(*image.variables, name + "'s values"));
      }
      plan_.images.push_back(image);
    }
    return Readable("the list of images");
  }

  static bool IsKnown(ImageKind kind) {
    switch (kind) {
      case ImageKind::kCubin:
      case ImageKind::kPtx:
      case ImageKind::kHostPtx:
        return true;
    }
    return false;
  }

  Blob ReadBlob() {
    Blob blob{};
    const std::string_view digest = reader_.Raw(blob.digest.size());
    std::copy(digest.begin(), digest.end(), blob.digest.begin());
    blob.offset = reader_.U64();
    blob.stored_size = reader_.U64();
    blob.raw_size = reader_.U64();
    return blob;
  }

  Status CheckBlob(const Blob& blob, const std::string& name) const {
    if (blob.offset <= image_bytes_ && blob.stored_size <= image_bytes_ - blob.offset) {
      return Status();
    }
    return Malformed(name + " ends after the " + Str(image_bytes_) + " image bytes");
  }

  Status Functions() {
    const size_t count = reader_.Count(4 * 4);
    for (size_t i = 0; i < count; ++i) {
      FunctionInfo function;
      function.image = reader_.U32();
      function.lowered_name = reader_.Text();
      function.display_name = reader_.Text();
      const size_t parameters = reader_.Count(2 * 4);
      uint64_t bytes = 0;
      bool empty_parameter = false;
      for (size_t k = 0; k < parameters; ++k) {
        std::string name = reader_.Text();
        const uint32_t size = reader_.U32();
        bytes += size;
        empty_parameter |= size == 0;
        function.parameters.push_back({std::move(name), size});
      }
      RETURN_IF_ERROR(Readable("function " + Str(i)));
      const std::string name = "kernel '" + function.display_name + "'";
      if (function.image >= plan_.images.size()) {
        return Malformed(name + " is in image " + Str(function.image) + " of " +
                         Str(plan_.images.size()));
      }
      if (parameters > kMaxArguments || bytes > kMaxParameterBytes || empty_parameter) {
        return Malformed(name + " has " + Str(parameters) + " parameters of " +
                         Str(bytes) + " bytes; the limits are " + Str(kMaxArguments) +
                         " and " + Str(kMaxParameterBytes) + ", none may be empty");
      }
      plan_.functions.push_back(std::move(function));
    }
    return Readable("the list of functions");
  }

  Reader reader_;
  size_t image_bytes_;
  Plan plan_;
};

}  // namespace

Result<Plan> DecodePlan(std::string_view bytes, size_t image_bytes) {
  return Decoder(bytes, image_bytes).Decode();
}

}  // namespace jax_rawcuda
