// builtin_types.h: the prelude declares all of it.
#pragma once
