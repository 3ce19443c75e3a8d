// labels.h: what the buffers of a plan are called, when its kernels are checked.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ffi/base/error.h"

namespace jax_rawcuda {

class Reader;
struct Plan;

struct BufferLabel {
  std::string name;     // "x"
  std::string type;     // "float32[8,16]"
  uint32_t item_bytes;  // of one element
  bool initialized;     // holds values before the first command
  bool visible;         // the caller sees its values
  bool read_only;       // a result that kernels may not write to
};

// One label per buffer of the plan.
struct BufferLabels {
  std::vector<BufferLabel> operands;
  std::vector<BufferLabel> results;
};

// Reads the part of a plan that may follow its commands; it begins with "CHK1".
Status DecodeLabels(Reader& reader, Plan& plan);

}  // namespace jax_rawcuda
