// strings.h: memory and C string functions.
#pragma once
#pragma clang system_header
#include "qualifiers.h"

// clang turns these into loops: there is no library to call.
__JRC_FN void* memcpy(void* to, const void* from, size_t n) {
  return __builtin_memcpy(to, from, n);
}
__JRC_FN void* memmove(void* to, const void* from, size_t n) {
  return __builtin_memmove(to, from, n);
}
__JRC_FN void* memset(void* to, int value, size_t n) {
  return __builtin_memset(to, value, n);
}
__JRC_FN int memcmp(const void* a, const void* b, size_t n) {
  const unsigned char* p = (const unsigned char*)a;
  const unsigned char* q = (const unsigned char*)b;
  for (; n; --n, ++p, ++q)
    if (*p != *q) return *p - *q;
  return 0;
}
__JRC_FN void* memchr(const void* a, int value, size_t n) {
  const unsigned char* p = (const unsigned char*)a;
  for (; n; --n, ++p)
    if (*p == (unsigned char)value) return (void*)p;
  return nullptr;
}

__JRC_FN size_t strlen(const char* s) {
  const char* p = s;
  while (*p) ++p;
  return p - s;
}
__JRC_FN int strncmp(const char* a, const char* b, size_t n) {
  for (; n && *a && *a == *b; --n) ++a, ++b;
  return n ? (unsigned char)*a - (unsigned char)*b : 0;
}
__JRC_FN int strcmp(const char* a, const char* b) { return strncmp(a, b, ~size_t(0)); }
__JRC_FN char* strcpy(char* to, const char* from) {
  for (char* p = to; (*p++ = *from++);) {
  }
  return to;
}
__JRC_FN char* strncpy(char* to, const char* from, size_t n) {
  for (size_t i = 0; i < n; ++i) to[i] = *from ? *from++ : 0;
  return to;
}
__JRC_FN char* strchr(const char* s, int value) {
  for (; *s != (char)value; ++s)
    if (!*s) return nullptr;
  return (char*)s;
}
__JRC_FN char* strrchr(const char* s, int value) {
  const char* found = nullptr;
  for (;; ++s) {
    if (*s == (char)value) found = s;
    if (!*s) return (char*)found;
  }
}

namespace std {
using ::memchr;
using ::memcmp;
using ::memcpy;
using ::memmove;
using ::memset;
using ::strchr;
using ::strcmp;
using ::strcpy;
using ::strlen;
using ::strncmp;
using ::strncpy;
using ::strrchr;
}  // namespace std
