// assert.h: assert comes with the prelude.
#pragma once
