// cuda_runtime.h: the device side comes with the prelude; there is no host side here.
#pragma once
#include "library_types.h"
