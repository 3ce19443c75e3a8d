// assert.h: assert. The prelude brings it along; after NDEBUG it is nothing.
#pragma clang system_header
#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition) \
  ((condition) ? (void)0  \
               : __assertfail(#condition, __FILE__, __LINE__, __PRETTY_FUNCTION__, 1))
#endif
