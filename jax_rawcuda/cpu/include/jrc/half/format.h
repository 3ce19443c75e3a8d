// format.h: a 16-bit format with all that it can do; type.h says which macros name it.
// They end here. No include guard on purpose, nor in its parts, which use what is
// included first.
#include "jrc/device/vector_types.h"
#include "jrc/device/warp.h"
#include "jrc/half/rounding.h"
#include "jrc/half/type.h"
#include "jrc/math/conversions.h"

// The type comes first: the functions below use it.
#include "jrc/half/arithmetic.h"
#include "jrc/half/conversions.h"
#include "jrc/half/warp.h"
#undef __JRC_H
#undef __JRC_H2
#undef __JRC_RAW
#undef __JRC_RAW2
#undef __JRC_NATIVE
#undef __JRC_N
#undef __JRC_N2
#undef __JRC_PTX
