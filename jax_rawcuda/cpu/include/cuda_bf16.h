// cuda_bf16.h: __nv_bfloat16 and __nv_bfloat162.
#pragma once

#define __JRC_H __nv_bfloat16
#define __JRC_H2 __nv_bfloat162
#define __JRC_RAW __nv_bfloat16_raw
#define __JRC_RAW2 __nv_bfloat162_raw
#define __JRC_NATIVE __bf16
#define __JRC_N bfloat16
#define __JRC_N2 bfloat162
#define __JRC_PTX "bf16"
#include "jrc/half/format.h"

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

#define CUDART_INF_BF16 __ushort_as_bfloat16((unsigned short)0x7F80U)
#define CUDART_NAN_BF16 __ushort_as_bfloat16((unsigned short)0x7FFFU)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16((unsigned short)0x0001U)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16((unsigned short)0x7F7FU)
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x8000U)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x0000U)
#define CUDART_ONE_BF16 __ushort_as_bfloat16((unsigned short)0x3F80U)
