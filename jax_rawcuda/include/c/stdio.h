// stdio.h: printf comes with NVRTC, or with the prelude for clang.
#pragma once
