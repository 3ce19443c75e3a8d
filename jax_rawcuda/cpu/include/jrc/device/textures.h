// textures.h: textures and surfaces, declared so that the refusal names the user's
// line.
#pragma once
#pragma clang system_header
#include "jrc/device/qualifiers.h"

typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;
enum cudaSurfaceBoundaryMode {
  cudaBoundaryModeZero,
  cudaBoundaryModeClamp,
  cudaBoundaryModeTrap
};

#define __JRC_TEXTURE(NAME, INSTRUCTION)                           \
  template <class T, class... Coordinates>                         \
  __JRC_FN T NAME(cudaTextureObject_t texture, Coordinates...) {   \
    int r;                                                         \
    asm volatile(INSTRUCTION ".v4.s32.f32 {%0, %0, %0, %0}, [%1];" \
                 : "=r"(r)                                         \
                 : "l"(texture));                                  \
    return T{};                                                    \
  }
__JRC_TEXTURE(tex1Dfetch, "tex.1d")
__JRC_TEXTURE(tex1D, "tex.1d")
__JRC_TEXTURE(tex2D, "tex.2d")
__JRC_TEXTURE(tex3D, "tex.3d")
__JRC_TEXTURE(tex1DLayered, "tex.a1d")
__JRC_TEXTURE(tex2DLayered, "tex.a2d")
__JRC_TEXTURE(texCubemap, "tex.cube")
__JRC_TEXTURE(tex1DLod, "tex.level.1d")
__JRC_TEXTURE(tex2DLod, "tex.level.2d")
__JRC_TEXTURE(tex3DLod, "tex.level.3d")
__JRC_TEXTURE(tex2Dgather, "tld4.r.2d")
__JRC_TEXTURE(surf1Dread, "suld.b.1d")
__JRC_TEXTURE(surf2Dread, "suld.b.2d")
__JRC_TEXTURE(surf3Dread, "suld.b.3d")
#undef __JRC_TEXTURE

#define __JRC_SURFACE(NAME, INSTRUCTION)                                      \
  template <class T, class... Coordinates>                                    \
  __JRC_FN void NAME(T, cudaSurfaceObject_t surface, Coordinates...) {        \
    asm volatile(INSTRUCTION ".b32.trap [%0], {%1};" ::"l"(surface), "r"(0)); \
  }
__JRC_SURFACE(surf1Dwrite, "sust.b.1d")
__JRC_SURFACE(surf2Dwrite, "sust.b.2d")
__JRC_SURFACE(surf3Dwrite, "sust.b.3d")
#undef __JRC_SURFACE
