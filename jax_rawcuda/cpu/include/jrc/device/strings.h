// strings.h: the functions of <string.h> that NVRTC has.
#pragma once
#pragma clang system_header
#include "jrc/device/qualifiers.h"

// clang turns these into loops: there is no library to call.
__JRC_FN void* memcpy(void* to, const void* from, size_t n) {
  return __builtin_memcpy(to, from, n);
}
__JRC_FN void* memset(void* to, int value, size_t n) {
  return __builtin_memset(to, value, n);
}
