// inttypes.h: stdint.h.
#pragma once
#include "stdint.h"
