// plan.h: the decoded form of a recorded session, immutable after DecodePlan.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ffi/base/error.h"
#include "ffi/plan/labels.h"
#include "ffi/plan/tags.h"

namespace jax_rawcuda {

// Bounds that let replay work in arrays on the stack.
constexpr size_t kMaxBuffers = 1024;  // operands and results together
constexpr size_t kMaxArguments = 1024;
constexpr size_t kMaxBatchAxes = 16;

using Digest = std::array<uint8_t, 32>;

// Bytes in the `images` attribute.
struct Blob {
  Digest digest;  // SHA-256 of the raw bytes
  uint64_t offset;
  uint64_t stored_size;  // compressed bytes
  uint64_t raw_size;
};

// One module image.
struct ImageEntry {
  ImageKind kind;
  Blob code;
  std::optional<Blob> variables;  // values that its global variables get
};

struct ParameterInfo {
  std::string name;
  uint32_t size;  // bytes
};

struct FunctionInfo {
  uint32_t image;
  std::string lowered_name;
  std::string display_name;
  std::vector<ParameterInfo> parameters;
};

// A byte position in one of the call's buffers.
struct BufferRef {
  Space space;
  uint32_t index;
  uint64_t offset;
};

struct Argument {
  ArgumentTag kind;
  BufferRef place;     // of an address, or of dynamic bytes
  std::string scalar;  // the parameter's bytes
};

struct Launch {
  uint32_t function;
  std::array<uint32_t, 3> grid;
  std::array<uint32_t, 3> block;
  std::array<uint32_t, 3> cluster;  // zeros: no cluster
  uint32_t shared_mem_bytes;
  bool cooperative;
  bool programmatic;
  bool at_once;  // one launch serves all batch elements of a piece
  std::vector<Argument> arguments;
};

struct Copy {
  BufferRef destination;
  BufferRef source;
  uint64_t bytes;
};

struct Fill {
  BufferRef destination;
  uint64_t bytes;
  uint8_t width;  // bytes per repeated value: 1, 2 or 4
  uint32_t value;
};

struct Synchronize {};

// Looks at the bands of a checked call on a GPU: see guard.h.
struct Verify {
  BufferRef begin;  // of the band before the buffer
  uint64_t bytes;   // between the bands
  uint64_t guard;   // bytes of each band
  std::string what;
};

using Command = std::variant<Launch, Copy, Fill, Synchronize, Verify>;

struct BatchAxis {
  uint64_t size;
  std::vector<uint64_t> operand_strides;  // bytes, 0 when not batched
  std::vector<uint64_t> result_strides;
};

struct Plan {
  std::string op_name;
  std::vector<uint64_t> operand_bytes;  // of one batch element
  std::vector<uint64_t> result_bytes;
  std::vector<uint64_t> result_alignments;  // that addresses are rounded up to, bytes
  std::vector<BatchAxis> batch_axes;        // outermost first
  uint64_t at_once = 1;  // batch elements that pass one command before the next
  std::vector<uint64_t> own_strides;  // of results that begin anew with every piece
  std::vector<ImageEntry> images;
  std::vector<FunctionInfo> functions;
  std::vector<Command> commands;

  std::shared_ptr<const BufferLabels> labels;  // when the kernels are to be checked

  // Derived by DecodePlan.
  uint64_t batch_elements = 1;            // product of the axes' sizes
  std::vector<uint64_t> operand_extents;  // bytes that all batch elements span
  std::vector<uint64_t> result_extents;
};

// Decodes and checks `bytes`: every index, span and size in the result is in range, and
// each image lies within `image_bytes` stored bytes. Launches of an empty grid are
// checked, then left out.
Result<Plan> DecodePlan(std::string_view bytes, size_t image_bytes);

}  // namespace jax_rawcuda
