// sm_30_intrinsics.h: the prelude declares all of it.
#pragma once
