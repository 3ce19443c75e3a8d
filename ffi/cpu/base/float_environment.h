// float_environment.h: IEEE arithmetic while blocks run.
#pragma once

#if defined(__SSE2__) || defined(_M_X64)
#include <immintrin.h>
#endif

#include <cstdint>

namespace jax_rawcuda {

// Rounds to nearest and keeps subnormal numbers on the calling thread while it lives.
// XLA's threads flush them to zero; a kernel flushes only where its code says so.
class FloatEnvironment {
 public:
  FloatEnvironment() : saved_(Read()) { Write(kStandard); }
  ~FloatEnvironment() { Write(saved_); }
  FloatEnvironment(const FloatEnvironment&) = delete;
  FloatEnvironment& operator=(const FloatEnvironment&) = delete;

 private:
#if defined(__SSE2__) || defined(_M_X64)
  using Register = uint32_t;
  static constexpr Register kStandard = 0x1F80;  // MXCSR: all exceptions masked
  static Register Read() { return _mm_getcsr(); }
  static void Write(Register value) { _mm_setcsr(value); }
#elif defined(__aarch64__)
  using Register = uint64_t;
  static constexpr Register kStandard = 0;
  static Register Read() {
    Register value;
    __asm__ volatile("mrs %0, fpcr" : "=r"(value)::"memory");
    return value;
  }
  static void Write(Register value) {
    __asm__ volatile("msr fpcr, %0" ::"r"(value) : "memory");
  }
#else
#error "jax_rawcuda does not know this processor's floating-point control register."
#endif

  const Register saved_;
};

}  // namespace jax_rawcuda
