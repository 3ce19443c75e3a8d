// settings.cc: environment variables as values.
#include "ffi/base/settings.h"

#include <cstdlib>
#include <string>

namespace jax_rawcuda {
namespace {

std::string Read(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Status NotUnderstood(const char* name, const std::string& value, const char* needed) {
  return InvalidArgument(std::string(name) + "='" + value + "': " + needed);
}

}  // namespace

Result<bool> DebugSetting() {
  constexpr char kName[] = "JAX_RAWCUDA_DEBUG";
  const std::string value = Read(kName);
  if (value.empty() || value == "0") return false;
  if (value == "1") return true;
  return NotUnderstood(kName, value, "0 or 1 is needed.");
}

Result<std::optional<double>> CpuTimeoutSetting() {
  constexpr char kName[] = "JAX_RAWCUDA_CPU_TIMEOUT";
  const std::string value = Read(kName);
  if (value.empty()) return std::optional<double>();
  // Read digit by digit: what strtod takes for a point depends on the locale.
  double seconds = 0, place = 1;
  bool digits = false, point = false;
  for (const char c : value) {
    if (c == '.' && !point) {
      point = true;
    } else if (c >= '0' && c <= '9') {
      digits = true;
      seconds = 10 * seconds + (c - '0');
      if (point) place *= 10;
    } else {
      digits = false;
      break;
    }
  }
  if (!digits) {
    return NotUnderstood(kName, value, "seconds are needed, as 10 or 0.5.");
  }
  if (seconds == 0) return std::optional<double>();
  return std::optional<double>(seconds / place);
}

}  // namespace jax_rawcuda
