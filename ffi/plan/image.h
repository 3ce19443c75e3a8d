// image.h: module images of the whole process, one object per digest.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "ffi/base/error.h"
#include "ffi/plan/plan.h"

struct CUlib_st;

namespace jax_rawcuda {

// The value that one of an image's global variables has at first.
struct VariableValue {
  std::string symbol;
  std::string bytes;
};

// What tells images apart: the code, and the values of its variables.
using ImageKey = std::array<Digest, 2>;

// One raw image. Executables share it; it dies, and is unloaded, with the last of them.
class Image {
 public:
  Image(const ImageKey& key, std::string bytes, std::vector<VariableValue> variables);
  ~Image();
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  const std::string& bytes() const { return bytes_; }
  const std::vector<VariableValue>& variables() const { return variables_; }

  // The driver's library; null until a device needs it. One serves every device, unless
  // variables get values: those are per device, and written before others may see the
  // library, so that nobody waits and no value is written twice.
  std::shared_ptr<CUlib_st> library(int device) const;

  // Keeps the first library that is offered and returns the one kept.
  std::shared_ptr<CUlib_st> Publish(int device, std::shared_ptr<CUlib_st> library);

 private:
  int Slot(int device) const { return variables_.empty() ? 0 : device; }

  ImageKey key_;
  std::string bytes_;
  std::vector<VariableValue> variables_;
  mutable std::mutex mutex_;
  std::map<int, std::shared_ptr<CUlib_st>> libraries_;
};

using Images = std::vector<std::shared_ptr<Image>>;

// Decompresses and verifies one blob. It may wait for the Python interpreter.
using InflateFn = Result<std::string> (*)(std::string_view stored,
                                          const Digest& digest);

// One image per entry of `plan.images`; `inflate` runs only for those that no living
// executable has.
Result<Images> AcquireImages(const Plan& plan, std::string_view stored,
                             InflateFn inflate);

}  // namespace jax_rawcuda
