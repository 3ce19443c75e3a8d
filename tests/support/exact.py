"""Floating-point arithmetic on bits, exact by construction: fractions, one rounding."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Format:
    """A binary format: bits of the exponent and of the fraction."""

    exponent: int
    fraction: int

    @property
    def width(self) -> int:
        return 1 + self.exponent + self.fraction

    @property
    def bias(self) -> int:
        return (1 << self.exponent - 1) - 1

    @property
    def infinity(self) -> int:
        return ((1 << self.exponent) - 1) << self.fraction

    @property
    def sign(self) -> int:
        return 1 << self.width - 1


FORMATS = {
    "f16": Format(5, 10),
    "bf16": Format(8, 7),
    "f32": Format(8, 23),
    "f64": Format(11, 52),
}
NAN = "nan"
# A number, an infinity (+-1 with `infinite`) or NaN (None).
Value = Fraction | float | None


def decode(bits: int, form: Format) -> tuple[int, Value]:
    """Returns the sign (0 or 1) and the value: Fraction, float infinity or None."""
    sign = bits >> form.width - 1 & 1
    size = bits & form.sign - 1
    if size > form.infinity:
        return sign, None
    if size == form.infinity:
        return sign, -math.inf if sign else math.inf
    exponent = size >> form.fraction
    fraction = size & (1 << form.fraction) - 1
    if exponent:
        fraction |= 1 << form.fraction
    shift = max(exponent, 1) - form.bias - form.fraction
    value = Fraction(fraction) * Fraction(2) ** shift
    return sign, -value if sign else value


def encode(value: Fraction, form: Format, mode: str = "rn", sign: int = 0) -> int:
    """Rounds a number to bits; `sign` is that of an exact zero."""
    if value == 0:
        return form.sign if sign else 0
    negative, size = value < 0, abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    exponent = max(exponent, 1 - form.bias)
    units = size / Fraction(2) ** (exponent - form.fraction)
    whole, rest = divmod(units.numerator, units.denominator)
    half = 2 * rest - units.denominator
    if mode == "rn":
        up = half > 0 or (half == 0 and whole & 1)
    else:
        up = rest > 0 and mode == ("rm" if negative else "rp")
    whole += bool(up)
    # The fraction's carry runs into the exponent, as it should.
    bits = whole + (exponent + form.bias - 1 << form.fraction)
    if bits >= form.infinity:
        away = mode == "rn" or mode == ("rm" if negative else "rp")
        bits = form.infinity if away else form.infinity - 1
    return bits | (form.sign if negative else 0)


def _finish(value: Value, form: Format, mode: str, sign: int) -> int | str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return NAN
    if isinstance(value, float):
        return form.infinity | (form.sign if value < 0 else 0)
    return encode(value, form, mode, sign)


def add(a: int, b: int, form: Format, mode: str = "rn") -> int | str:
    """a + b."""
    (sa, x), (sb, y) = decode(a, form), decode(b, form)
    return _finish(_plus(x, y), form, mode, _zero_sign(sa, sb, mode))


def mul(a: int, b: int, form: Format, mode: str = "rn") -> int | str:
    """a * b."""
    (sa, x), (sb, y) = decode(a, form), decode(b, form)
    return _finish(_times(x, y), form, mode, sa ^ sb)


def fma(a: int, b: int, c: int, form: Format, mode: str = "rn") -> int | str:
    """a * b + c."""
    (sa, x), (sb, y), (sc, z) = (decode(v, form) for v in (a, b, c))
    total = _plus(_times(x, y), z)
    return _finish(total, form, mode, _zero_sign(sa ^ sb, sc, mode))


def div(a: int, b: int, form: Format, mode: str = "rn") -> int | str:
    """a / b."""
    (sa, x), (sb, y) = decode(a, form), decode(b, form)
    sign = sa ^ sb
    if x is None or y is None or (x == 0 and y == 0):
        return NAN
    if isinstance(x, float):
        return NAN if isinstance(y, float) else _infinity(sign, form)
    if y == 0:
        return _infinity(sign, form)
    quotient = Fraction(0) if isinstance(y, float) else x / y
    return _finish(quotient, form, mode, sign)


def sqrt(a: int, form: Format, mode: str = "rn") -> int | str:
    """The square root of a."""
    sign, x = decode(a, form)
    if x == 0:
        return a
    if x is None or sign:
        return NAN
    if isinstance(x, float):
        return form.infinity
    # 200 more bits than needed, and a sticky bit below them.
    scale = 4**600
    whole = math.isqrt(x.numerator * scale // x.denominator)
    exact = Fraction(whole * whole, scale) == x
    root = Fraction(2 * whole + (not exact), 2 * 2**600)
    return encode(root, form, mode)


def convert(a: int, source: Format, target: Format, mode: str = "rn") -> int | str:
    """Rounds a from one format to another."""
    sign, x = decode(a, source)
    return _finish(x, target, mode, sign)


def smallest(a: int, b: int, form: Format) -> int | str:
    """minimumNumber: NaN loses, and -0 is below +0."""
    return _extreme(a, b, form, lambda x, y: x < y)


def largest(a: int, b: int, form: Format) -> int | str:
    """maximumNumber: NaN loses, and -0 is below +0."""
    return _extreme(a, b, form, lambda x, y: x > y)


def _extreme(
    a: int, b: int, form: Format, first: Callable[[tuple, tuple], bool]
) -> int | str:
    (sa, x), (sb, y) = decode(a, form), decode(b, form)
    if x is None or y is None:
        return NAN if x is None and y is None else b if x is None else a
    return a if first((x, -sa), (y, -sb)) else b


def _zero_sign(sa: int, sb: int, mode: str) -> int:
    if sa == sb:
        return sa
    return int(mode == "rm")


def _infinity(sign: int, form: Format) -> int:
    return form.infinity | (form.sign if sign else 0)


def _plus(x: Value, y: Value) -> Value:
    if x is None or y is None:
        return None
    if isinstance(x, float) or isinstance(y, float):
        infinite = [v for v in (x, y) if isinstance(v, float)]
        return infinite[0] if len(set(infinite)) == 1 else None
    return x + y


def _times(x: Value, y: Value) -> Value:
    if x is None or y is None:
        return None
    if isinstance(x, float) or isinstance(y, float):
        if x == 0 or y == 0:
            return None
        return math.inf if (x > 0) == (y > 0) else -math.inf
    return x * y
