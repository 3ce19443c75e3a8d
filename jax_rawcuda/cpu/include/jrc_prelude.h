// jrc_prelude.h: what a CUDA C++ source may use without including anything.
//
// Written from the documented CUDA C++ interfaces for clang's NVPTX target. Every
// source is compiled with `-include jrc_prelude.h`.
#pragma once
#pragma clang system_header
#include "initializer_list"
#include "jrc/atomics.h"
#include "jrc/builtin_variables.h"
#include "jrc/conversions.h"
#include "jrc/integer.h"
#include "jrc/math_f32.h"
#include "jrc/math_f64.h"
#include "jrc/math_overloads.h"
#include "jrc/math_special.h"
#include "jrc/memory.h"
#include "jrc/move.h"
#include "jrc/output.h"
#include "jrc/qualifiers.h"
#include "jrc/rounding.h"
#include "jrc/runtime_types.h"
#include "jrc/simd.h"
#include "jrc/strings.h"
#include "jrc/sync.h"
#include "jrc/textures.h"
#include "jrc/vector_types.h"
#include "jrc/warp.h"
