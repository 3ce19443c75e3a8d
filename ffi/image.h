// image.h: module images of the whole process, one object per digest.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ffi/error.h"
#include "ffi/plan.h"

struct CUlib_st;

namespace jax_rawcuda {

// One raw image. Executables share it; it dies, and is unloaded, with the last of them.
class Image {
 public:
  Image(const Digest& digest, std::string bytes);
  ~Image();
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  const std::string& bytes() const { return bytes_; }

  // The driver's library; null until the first device needs it.
  std::shared_ptr<CUlib_st> library() const;

  // Keeps the first library that is offered and returns the one kept.
  std::shared_ptr<CUlib_st> Publish(std::shared_ptr<CUlib_st> library);

 private:
  Digest digest_;
  std::string bytes_;
  std::shared_ptr<CUlib_st> library_;  // accessed atomically
};

using Images = std::vector<std::shared_ptr<Image>>;

// Decompresses and verifies one image. It may wait for the Python interpreter.
using InflateFn = Result<std::string> (*)(std::string_view stored,
                                          const Digest& digest);

// One image per entry of `plan.images`; `inflate` runs only for those that no living
// executable has.
Result<Images> AcquireImages(const Plan& plan, std::string_view stored,
                             InflateFn inflate);

}  // namespace jax_rawcuda
