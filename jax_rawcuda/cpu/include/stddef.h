// stddef.h: size_t and ptrdiff_t come with the prelude.
#pragma once

#define offsetof(type, member) __builtin_offsetof(type, member)
typedef struct {
  long long integer __attribute__((aligned(16)));
} max_align_t;
