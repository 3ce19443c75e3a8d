// move.h: std::move and std::forward, which NVRTC has without an #include.
#pragma once
#pragma clang system_header
#include "jrc/device/qualifiers.h"

namespace std {
template <class T>
__JRC_FN constexpr T&& forward(__remove_reference_t(T) & v) noexcept {
  return static_cast<T&&>(v);
}
template <class T>
__JRC_FN constexpr T&& forward(__remove_reference_t(T) && v) noexcept {
  return static_cast<T&&>(v);
}
template <class T>
__JRC_FN constexpr __remove_reference_t(T) && move(T&& v) noexcept {
  return static_cast<__remove_reference_t(T)&&>(v);
}
}  // namespace std
