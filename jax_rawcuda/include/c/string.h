// string.h: size_t. memcpy and memset come with the compiler or the prelude.
#pragma once
#include "stddef.h"
