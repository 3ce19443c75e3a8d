// output.h: printf, what assert calls, and the device heap.
#pragma once
#pragma clang system_header
#include "assert.h"
#include "jrc/device/qualifiers.h"

extern "C" {
__device__ int printf(const char*, ...);
__device__ void* malloc(size_t);
__device__ void free(void*);
__device__ __attribute__((noreturn)) void __assertfail(const char* message,
                                                       const char* file,
                                                       unsigned int line,
                                                       const char* function,
                                                       size_t char_size);
}

// Placement and heap forms of new, as the device runtime has them.
__JRC_FN void* operator new(size_t, void* p) noexcept { return p; }
__JRC_FN void* operator new[](size_t, void* p) noexcept { return p; }
__JRC_FN void operator delete(void*, void*) noexcept {}
__JRC_FN void operator delete[](void*, void*) noexcept {}
__device__ inline void* operator new(size_t n) { return malloc(n); }
__device__ inline void* operator new[](size_t n) { return malloc(n); }
__device__ inline void operator delete(void* p) noexcept { free(p); }
__device__ inline void operator delete[](void* p) noexcept { free(p); }
__device__ inline void operator delete(void* p, size_t) noexcept { free(p); }
__device__ inline void operator delete[](void* p, size_t) noexcept { free(p); }
