// crt/math_functions.h: the prelude declares all of it.
#pragma once
