// jrc_prelude.h: what a CUDA C++ source may use without including anything.
//
// Written from the documented CUDA C++ interfaces for clang's NVPTX target. Every
// source is compiled with `-include jrc_prelude.h`.
#pragma once
#pragma clang system_header
#include "initializer_list"
#include "jrc/device/atomics.h"
#include "jrc/device/builtin_variables.h"
#include "jrc/math/conversions.h"
#include "jrc/math/integer.h"
#include "jrc/math/f32.h"
#include "jrc/math/f64.h"
#include "jrc/math/overloads.h"
#include "jrc/math/special.h"
#include "jrc/device/memory.h"
#include "jrc/device/move.h"
#include "jrc/device/output.h"
#include "jrc/device/qualifiers.h"
#include "jrc/math/rounding.h"
#include "jrc/device/runtime_types.h"
#include "jrc/math/simd.h"
#include "jrc/device/strings.h"
#include "jrc/device/sync.h"
#include "jrc/device/textures.h"
#include "jrc/device/vector_types.h"
#include "jrc/device/warp.h"
