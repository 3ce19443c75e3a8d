"""Functions of the C library that kernels may call, with their LLVM types."""

from __future__ import annotations

_UNARY = (
    *("acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "ceil", "cos", "cosh"),
    *("erf", "erfc", "exp", "exp10", "exp2", "expm1", "fabs", "floor", "j0", "j1"),
    *("lgamma", "log", "log10", "log1p", "log2", "logb", "nearbyint", "rint", "round"),
    *("sin", "sinh", "sqrt", "tan", "tanh", "tgamma", "trunc", "y0", "y1"),
)
_BINARY = (
    *("atan2", "copysign", "fdim", "fmax", "fmin", "fmod", "hypot", "nextafter"),
    *("pow", "remainder"),
)
# Result and parameters; `x` stands for the function's own float type.
_SHAPES = {
    **dict.fromkeys(_UNARY, ("x", "x")),
    **dict.fromkeys(_BINARY, ("x", "x", "x")),
    "fma": ("x", "x", "x", "x"),
    **dict.fromkeys(("ldexp", "scalbn"), ("x", "x", "i32")),
    **dict.fromkeys(("jn", "yn"), ("x", "i32", "x")),
    "ilogb": ("i32", "x"),
    **dict.fromkeys(("lrint", "lround", "llrint", "llround"), ("i64", "x")),
}
# Name, such as `sinf` or `sin` -> LLVM types of the result and of the parameters.
SIGNATURES = {
    name + suffix: tuple(kind if word == "x" else word for word in shape)
    for name, shape in _SHAPES.items()
    for suffix, kind in (("f", "float"), ("", "double"))
}
