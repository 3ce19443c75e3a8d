// sm_32_intrinsics.h: the prelude declares all of it.
#pragma once
