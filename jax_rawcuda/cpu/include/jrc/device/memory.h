// memory.h: loads and stores with cache hints, address space conversions.
#pragma once
#pragma clang system_header
#include "jrc/device/qualifiers.h"

// The host has no such caches, so a hint is a plain access.
#define __JRC_LOAD(NAME)        \
  template <class T>            \
  __JRC_FN T NAME(const T* p) { \
    return *p;                  \
  }
__JRC_LOAD(__ldg)
__JRC_LOAD(__ldca)
__JRC_LOAD(__ldcg)
__JRC_LOAD(__ldcs)
__JRC_LOAD(__ldlu)
#undef __JRC_LOAD
// Other threads may have written what this one reads.
template <class T>
__JRC_FN T __ldcv(const T* p) {
  return *const_cast<const volatile T*>(p);
}
#define __JRC_STORE(NAME)                \
  template <class T, class U>            \
  __JRC_FN void NAME(T* p, const U& v) { \
    *p = v;                              \
  }
__JRC_STORE(__stcg)
__JRC_STORE(__stcs)
__JRC_STORE(__stwb)
__JRC_STORE(__stwt)
#undef __JRC_STORE

#define __JRC_SPACE(NUMBER) __attribute__((address_space(NUMBER)))
__JRC_FN unsigned int __isGlobal(const void* p) { return __nvvm_isspacep_global(p); }
__JRC_FN unsigned int __isShared(const void* p) { return __nvvm_isspacep_shared(p); }
__JRC_FN unsigned int __isConstant(const void* p) { return __nvvm_isspacep_const(p); }
__JRC_FN unsigned int __isLocal(const void* p) { return __nvvm_isspacep_local(p); }
__JRC_FN unsigned int __isClusterShared(const void* p) {
  unsigned int r;
  asm("{\n\t.reg .pred p;\n\tisspacep.shared::cluster p, %1;\n\t"
      "selp.u32 %0, 1, 0, p;\n\t}"
      : "=r"(r)
      : "l"(p));
  return r;
}
__JRC_FN size_t __cvta_generic_to_global(const void* p) {
  return (size_t)(__JRC_SPACE(1) const void*)p;
}
__JRC_FN size_t __cvta_generic_to_shared(const void* p) {
  return (size_t)(__JRC_SPACE(3) const void*)p;
}
__JRC_FN size_t __cvta_generic_to_constant(const void* p) {
  return (size_t)(__JRC_SPACE(4) const void*)p;
}
__JRC_FN size_t __cvta_generic_to_local(const void* p) {
  return (size_t)(__JRC_SPACE(5) const void*)p;
}
__JRC_FN void* __cvta_global_to_generic(size_t a) {
  return (void*)(__JRC_SPACE(1) void*)a;
}
__JRC_FN void* __cvta_shared_to_generic(size_t a) {
  return (void*)(__JRC_SPACE(3) void*)a;
}
__JRC_FN void* __cvta_constant_to_generic(size_t a) {
  return (void*)(__JRC_SPACE(4) void*)a;
}
__JRC_FN void* __cvta_local_to_generic(size_t a) {
  return (void*)(__JRC_SPACE(5) void*)a;
}
#undef __JRC_SPACE
__JRC_FN unsigned int __nv_cvta_generic_to_shared_impl(const void* p) {
  return (unsigned int)__cvta_generic_to_shared(p);
}
