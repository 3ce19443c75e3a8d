// mma.h: warp matrix fragments of floating-point numbers and 8-bit integers.
#pragma once
#include "cuda_bf16.h"
#include "cuda_fp16.h"

namespace nvcuda {
namespace wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };

namespace experimental {
namespace precision {
struct s4;
struct u4;
struct b1;
}  // namespace precision
}  // namespace experimental

template <class>
struct __jrc_is_known {
  enum { value = 0 };
};
template <class Use, int _M, int _N, int _K, class _T, class Layout = void>
struct fragment {
  static_assert(__jrc_is_known<_T>::value,
                "there is no wmma fragment of this shape and type on the CPU; use "
                "mma.sync, which has s4, u4 and b1");
};

template <class _T, int Count>
struct __jrc_elements {
  enum { num_elements = Count, num_storage_elements = Count };
  typedef _T element_type;
  _T x[Count];
};

template <class _T, int Count>
__JRC_FN void __jrc_fill(__jrc_elements<_T, Count>& f, _T v) {
  for (int i = 0; i < Count; ++i) f.x[i] = v;
}
template <class Fragment, class _T>
__JRC_FN void fill_fragment(Fragment& f, const _T& v) {
  __jrc_fill(f, (typename Fragment::element_type)v);
}

template <class Layout>
struct __jrc_is_column {
  enum { value = 0 };
};
template <>
struct __jrc_is_column<col_major> {
  enum { value = 1 };
};

// An input fragment: LOAD reads it in the layout of its type.
#define __JRC_INPUT(USE, SHAPE, _T, COUNT, WORD, LOAD)                              \
  template <class Layout>                                                           \
  struct fragment<USE, SHAPE, _T, Layout> : __jrc_elements<_T, COUNT> {             \
    __JRC_FN void __jrc_load(const _T* p, unsigned int stride) {                    \
      LOAD((WORD*)this->x, (const WORD*)p, stride, __jrc_is_column<Layout>::value); \
    }                                                                               \
  };
#define __JRC_ACCUMULATOR(SHAPE, _T, COUNT, WORD, LOAD, STORE)                     \
  template <>                                                                      \
  struct fragment<accumulator, SHAPE, _T> : __jrc_elements<_T, COUNT> {            \
    __JRC_FN void __jrc_load(const _T* p, unsigned int stride, layout_t layout) {  \
      if (layout == mem_row_major)                                                 \
        LOAD((WORD*)x, (const WORD*)p, stride, 0);                                 \
      else                                                                         \
        LOAD((WORD*)x, (const WORD*)p, stride, 1);                                 \
    }                                                                              \
    __JRC_FN void __jrc_store(_T* p, unsigned int stride, layout_t layout) const { \
      if (layout == mem_row_major)                                                 \
        STORE((WORD*)p, (const WORD*)x, stride, 0);                                \
      else                                                                         \
        STORE((WORD*)p, (const WORD*)x, stride, 1);                                \
    }                                                                              \
  };
// The four layout pairs of one product; clang numbers them row/row, row/col, ...
#define __JRC_PRODUCT(SHAPE, IN, _A, _D, _C, WORD_D, WORD_C, MMA)         \
  template <class LA, class LB>                                           \
  __JRC_FN void mma_sync(fragment<accumulator, SHAPE, _D>& d,             \
                         const fragment<matrix_a, SHAPE, IN, LA>& a,      \
                         const fragment<matrix_b, SHAPE, IN, LB>& b,      \
                         const fragment<accumulator, SHAPE, _C>& c) {     \
    MMA((WORD_D*)d.x, (const _A*)a.x, (const _A*)b.x, (const WORD_C*)c.x, \
        __jrc_is_column<LA>::value * 2 + __jrc_is_column<LB>::value, 0);  \
  }
#define __JRC_SHAPE(...) __VA_ARGS__

#define __JRC_HALF_SHAPE(NAME, SHAPE)                                              \
  __JRC_INPUT(matrix_a, __JRC_SHAPE(SHAPE), __half, 16, int, __hmma_##NAME##_ld_a) \
  __JRC_INPUT(matrix_b, __JRC_SHAPE(SHAPE), __half, 16, int, __hmma_##NAME##_ld_b) \
  __JRC_ACCUMULATOR(__JRC_SHAPE(SHAPE), float, 8, float, __hmma_##NAME##_ld_c_f32, \
                    __hmma_##NAME##_st_c_f32)                                      \
  __JRC_ACCUMULATOR(__JRC_SHAPE(SHAPE), __half, 8, int, __hmma_##NAME##_ld_c_f16,  \
                    __hmma_##NAME##_st_c_f16)                                      \
  __JRC_ACCUMULATOR(__JRC_SHAPE(SHAPE), int, 8, int, __imma_##NAME##_ld_c,         \
                    __imma_##NAME##_st_c_i32)                                      \
  __JRC_PRODUCT(__JRC_SHAPE(SHAPE), __half, int, float, float, float, float,       \
                __hmma_##NAME##_mma_f32f32)                                        \
  __JRC_PRODUCT(__JRC_SHAPE(SHAPE), __half, int, __half, __half, int, int,         \
                __hmma_##NAME##_mma_f16f16)
__JRC_HALF_SHAPE(m16n16k16, __JRC_SHAPE(16, 16, 16))
__JRC_HALF_SHAPE(m32n8k16, __JRC_SHAPE(32, 8, 16))
__JRC_HALF_SHAPE(m8n32k16, __JRC_SHAPE(8, 32, 16))
#undef __JRC_HALF_SHAPE

// COUNT elements of a and of b differ with the shape.
#define __JRC_NARROW_SHAPE(NAME, SHAPE, BF_A, BF_B)                                 \
  __JRC_INPUT(matrix_a, __JRC_SHAPE(SHAPE), __nv_bfloat16, BF_A, int,               \
              __mma_bf16_##NAME##_ld_a)                                             \
  __JRC_INPUT(matrix_b, __JRC_SHAPE(SHAPE), __nv_bfloat16, BF_B, int,               \
              __mma_bf16_##NAME##_ld_b)                                             \
  __JRC_PRODUCT(__JRC_SHAPE(SHAPE), __nv_bfloat16, int, float, float, float, float, \
                __mma_bf16_##NAME##_mma_f32)                                        \
  __JRC_INPUT(matrix_a, __JRC_SHAPE(SHAPE), signed char, BF_A, int,                 \
              __imma_##NAME##_ld_a_s8)                                              \
  __JRC_INPUT(matrix_b, __JRC_SHAPE(SHAPE), signed char, BF_B, int,                 \
              __imma_##NAME##_ld_b_s8)                                              \
  __JRC_INPUT(matrix_a, __JRC_SHAPE(SHAPE), unsigned char, BF_A, int,               \
              __imma_##NAME##_ld_a_u8)                                              \
  __JRC_INPUT(matrix_b, __JRC_SHAPE(SHAPE), unsigned char, BF_B, int,               \
              __imma_##NAME##_ld_b_u8)                                              \
  __JRC_PRODUCT(__JRC_SHAPE(SHAPE), signed char, int, int, int, int, int,           \
                __imma_##NAME##_mma_s8)                                             \
  __JRC_PRODUCT(__JRC_SHAPE(SHAPE), unsigned char, int, int, int, int, int,         \
                __imma_##NAME##_mma_u8)
__JRC_NARROW_SHAPE(m16n16k16, __JRC_SHAPE(16, 16, 16), 8, 8)
__JRC_NARROW_SHAPE(m32n8k16, __JRC_SHAPE(32, 8, 16), 16, 4)
__JRC_NARROW_SHAPE(m8n32k16, __JRC_SHAPE(8, 32, 16), 4, 16)
#undef __JRC_NARROW_SHAPE

namespace precision {
struct tf32;
}
// Fragments of tf32 hold floats.
#define __JRC_TF32(USE, LOAD)                                                     \
  template <class Layout>                                                         \
  struct fragment<USE, 16, 16, 8, precision::tf32, Layout>                        \
      : __jrc_elements<float, 4> {                                                \
    __JRC_FN void __jrc_load(const float* p, unsigned int stride) {               \
      LOAD((int*)this->x, (const int*)p, stride, __jrc_is_column<Layout>::value); \
    }                                                                             \
  };
__JRC_TF32(matrix_a, __mma_tf32_m16n16k8_ld_a)
__JRC_TF32(matrix_b, __mma_tf32_m16n16k8_ld_b)
#undef __JRC_TF32
__JRC_ACCUMULATOR(__JRC_SHAPE(16, 16, 8), float, 8, float, __mma_tf32_m16n16k8_ld_c,
                  __mma_m16n16k8_st_c_f32)
__JRC_PRODUCT(__JRC_SHAPE(16, 16, 8), precision::tf32, int, float, float, float, float,
              __mma_tf32_m16n16k8_mma_f32)
__JRC_FN float __float_to_tf32(float v) {
  unsigned int r;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(v));
  return __uint_as_float(r);
}

__JRC_INPUT(matrix_a, __JRC_SHAPE(8, 8, 4), double, 1, double, __dmma_m8n8k4_ld_a)
__JRC_INPUT(matrix_b, __JRC_SHAPE(8, 8, 4), double, 1, double, __dmma_m8n8k4_ld_b)
__JRC_ACCUMULATOR(__JRC_SHAPE(8, 8, 4), double, 2, double, __dmma_m8n8k4_ld_c,
                  __dmma_m8n8k4_st_c_f64)
__JRC_PRODUCT(__JRC_SHAPE(8, 8, 4), double, double, double, double, double, double,
              __dmma_m8n8k4_mma_f64)
#undef __JRC_SHAPE
#undef __JRC_PRODUCT
#undef __JRC_ACCUMULATOR
#undef __JRC_INPUT

template <class Fragment, class _T>
__JRC_FN void load_matrix_sync(Fragment& f, const _T* p, unsigned int stride) {
  f.__jrc_load(p, stride);
}
template <class Fragment, class _T>
__JRC_FN void load_matrix_sync(Fragment& f, const _T* p, unsigned int stride,
                               layout_t layout) {
  f.__jrc_load(p, stride, layout);
}
template <class _T, class Fragment>
__JRC_FN void store_matrix_sync(_T* p, const Fragment& f, unsigned int stride,
                                layout_t layout) {
  f.__jrc_store(p, stride, layout);
}

}  // namespace wmma
}  // namespace nvcuda
