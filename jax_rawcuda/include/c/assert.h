// assert.h: assert. After NDEBUG it is nothing.
//
// NVRTC and the prelude bring it along. Included again, as C wants it, it changes.
#ifdef __JAX_RAWCUDA_CPU__
#pragma clang system_header
#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition) \
  ((condition) ? (void)0  \
               : __assertfail(#condition, __FILE__, __LINE__, __PRETTY_FUNCTION__, 1))
#endif
#elif defined(NDEBUG)
#undef assert
#define assert(condition) ((void)0)
#endif
