// guard.cc: what is left of the bands after the kernels.
#include "ffi/cuda/guard.h"

#include <string>
#include <vector>

namespace jax_rawcuda {
namespace {

// jax_rawcuda/_plan/guards.py fills the bands with it.
constexpr char kPattern = static_cast<char>(0xA5);

Status Download(std::vector<char>& to, const char* from, CUstream stream) {
  return Check(GetDriver().MemcpyDtoHAsync(
                   to.data(), reinterpret_cast<CUdeviceptr>(from), to.size(), stream),
               "cuMemcpyDtoHAsync");
}

}  // namespace

Status CheckGuards(const Verify& verify, const char* begin, CUstream stream) {
  std::vector<char> before(verify.guard), after(verify.guard);
  RETURN_IF_ERROR(Download(before, begin, stream));
  RETURN_IF_ERROR(Download(after, begin + verify.guard + verify.bytes, stream));
  RETURN_IF_ERROR(Check(GetDriver().StreamSynchronize(stream), "cuStreamSynchronize"));
  int64_t count = 0, first = 0, last = 0;
  const auto look = [&](const std::vector<char>& band, int64_t offset) {
    for (const char byte : band) {
      if (byte != kPattern) {
        if (count++ == 0) first = offset;
        last = offset;
      }
      ++offset;
    }
  };
  look(before, -static_cast<int64_t>(verify.guard));
  look(after, static_cast<int64_t>(verify.bytes));
  if (count == 0) return Status();
  return Internal(verify.what + ": " + std::to_string(count) +
                  " bytes outside of it were overwritten, from byte offset " +
                  std::to_string(first) + " to " + std::to_string(last) + " (it has " +
                  std::to_string(verify.bytes) +
                  "). Compare the index with the size before the store; on the CPU, "
                  "checked mode names the thread and the line.");
}

}  // namespace jax_rawcuda
