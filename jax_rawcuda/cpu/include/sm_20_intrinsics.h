// sm_20_intrinsics.h: the prelude declares all of it.
#pragma once
