// stdlib.h: size_t. malloc, free and abs come with the compiler or the prelude.
#pragma once
#include "stddef.h"
