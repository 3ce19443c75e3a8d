// string.h: memcpy and its like come with the prelude.
#pragma once
