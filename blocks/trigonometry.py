"""Sine, cosine, arctangent and their kin in additions, multiplications and divisions alone: the same bits everywhere.

A system's own library chooses variants by what the processor has (fused multiply-add, vector width), which differ in
the last bit. What reaches a bag is computed with these instead. Sine and cosine are within 1 ulp of the true value, the
others within 3.

Reductions and polynomials are those of fdlibm 5.3 (https://netlib.org/fdlibm): Copyright (C) 1993 by Sun Microsystems,
Inc. All rights reserved. Developed at SunPro, a Sun Microsystems, Inc. business. Permission to use, copy, modify, and
distribute this software is freely granted, provided that this notice is preserved.
"""

import math

from blocks.kernel import inlined
from blocks.plain import plain

TWO_OVER_PI = 6.36619772367581382433e-01
# pi / 2 in parts: two of 33 bits, whose product with a quadrant is exact, and the rest.
HALF_PI_1, HALF_PI_2, HALF_PI_3 = 1.57079632673412561417e00, 6.07710050630396597660e-11, 2.02226624879595063154e-21
PI_LOW = 1.22464679914735317720e-16  # of pi, beyond the bits of math.pi
SMALL, LARGE, RESCALE = 2.0**-900, 2.0**900, 2.0**200  # lengths whose products are exact enough, and what makes them so
REDUCIBLE = float(1 << 20)  # rad; a larger angle loses digits, as its own last bit is worth more than 2e-10

SIN_1, SIN_2, SIN_3 = -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04
SIN_4, SIN_5, SIN_6 = 2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10
COS_1, COS_2, COS_3 = 4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05
COS_4, COS_5, COS_6 = -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11
ATAN_0, ATAN_1, ATAN_2 = 3.33333333333329318027e-01, -1.99999999998764832476e-01, 1.42857142725034663711e-01
ATAN_3, ATAN_4, ATAN_5 = -1.11111104054623557880e-01, 9.09088713343650656196e-02, -7.69187620504482999495e-02
ATAN_6, ATAN_7, ATAN_8 = 6.66107313738753120669e-02, -5.83357013379057348645e-02, 4.97687799461593236017e-02
ATAN_9, ATAN_10 = -3.65315727442169155270e-02, 1.62858201153657823623e-02
# atan(1/2), atan(1), atan(3/2), atan(infinity), each with what lies beyond its bits.
ATAN_HALF, ATAN_HALF_LOW = 4.63647609000806093515e-01, 2.26987774529616870924e-17
ATAN_ONE, ATAN_ONE_LOW = 7.85398163397448278999e-01, 3.06161699786838301793e-17
ATAN_1_5, ATAN_1_5_LOW = 9.82793723247329054082e-01, 1.39033110312309984516e-17
ATAN_INF, ATAN_INF_LOW = 1.57079632679489655800e00, 6.12323399573676603587e-17


@inlined
def reduced(x: float) -> tuple[int, float, float]:
    """Angle x (rad) as (quadrant, rest, what lies beyond the bits of the rest), the rest within pi / 4 of 0."""
    if abs(x) > REDUCIBLE:
        x = x % (2.0 * math.pi)
    quadrant = math.floor(x * TWO_OVER_PI + 0.5)
    n = float(quadrant)
    a = x - n * HALF_PI_1
    b = a - n * HALF_PI_2
    lost = n * HALF_PI_3 - ((a - b) - n * HALF_PI_2)
    rest = b - lost
    return quadrant & 3, rest, (b - rest) - lost


@inlined
def sin_near_zero(x: float, low: float) -> float:
    """Sine of x + low (rad), within pi / 4 of 0."""
    z = x * x
    v = z * x
    r = SIN_2 + z * (SIN_3 + z * (SIN_4 + z * (SIN_5 + z * SIN_6)))
    return x - ((z * (0.5 * low - v * r) - low) - v * SIN_1)


@inlined
def cos_near_zero(x: float, low: float) -> float:
    """Cosine of x + low (rad), within pi / 4 of 0."""
    z = x * x
    w = z * z
    r = z * (COS_1 + z * (COS_2 + z * COS_3)) + w * w * (COS_4 + z * (COS_5 + z * COS_6))
    half = 0.5 * z
    head = 1.0 - half
    return head + (((1.0 - head) - half) + (z * r - x * low))


@inlined
def sin_in(quadrant: int, rest: float, low: float) -> float:
    """Sine of a reduced angle (rad) in a quadrant from 0 to 3."""
    y = sin_near_zero(rest, low) if quadrant & 1 == 0 else cos_near_zero(rest, low)
    return y if quadrant < 2 else -y


@inlined
def sin(x: float) -> float:
    """Sine of an angle, rad; NaN of what is not finite."""
    if not abs(x) < math.inf:
        return x - x
    quadrant, rest, low = reduced(x)
    return sin_in(quadrant, rest, low)


@inlined
def cos(x: float) -> float:
    """Cosine of an angle, rad; NaN of what is not finite."""
    if not abs(x) < math.inf:
        return x - x
    quadrant, rest, low = reduced(x)
    return sin_in((quadrant + 1) & 3, rest, low)


@inlined
def tan(x: float) -> float:
    """Tangent of an angle, rad; NaN of what is not finite."""
    return sin(x) / cos(x)


@inlined
def rescaled(y: float, x: float) -> tuple[float, float]:
    """A point (both >= 0) in the same direction, neither at 0 nor where products overflow or lose digits."""
    if y == math.inf or x == math.inf:
        return 1.0 if y == math.inf else 0.0, 1.0 if x == math.inf else 0.0
    if y == 0.0 and x == 0.0:
        return 0.0, 1.0
    if not y + x >= 0.0:
        return math.nan, 1.0
    k = 1.0 / RESCALE if y >= LARGE or x >= LARGE else RESCALE
    return y * k, x * k


@inlined
def atan2(y: float, x: float) -> float:
    """Angle of the point (x, y) from the x axis, rad, in [-pi, pi]; signs of zeros and infinities as in C (Annex F)."""
    a, b = abs(y), abs(x)
    longer = a if a > b else b
    if not SMALL < longer < LARGE:
        a, b = rescaled(a, b)
    # The reference direction next to it: 0, atan(1/2), atan(1), atan(3/2) or pi/2; r is the tangent of what is left.
    over, under, high, low = a, b, 0.0, 0.0
    if a >= 2.4375 * b:
        over, under, high, low = -b, a, ATAN_INF, ATAN_INF_LOW
    elif a >= 1.1875 * b:
        over, under, high, low = a - 1.5 * b, b + 1.5 * a, ATAN_1_5, ATAN_1_5_LOW
    elif a >= 0.6875 * b:
        over, under, high, low = a - b, a + b, ATAN_ONE, ATAN_ONE_LOW
    elif a >= 0.4375 * b:
        over, under, high, low = 2.0 * a - b, 2.0 * b + a, ATAN_HALF, ATAN_HALF_LOW
    r = over / under
    z = r * r
    w = z * z
    odd = z * (ATAN_0 + w * (ATAN_2 + w * (ATAN_4 + w * (ATAN_6 + w * (ATAN_8 + w * ATAN_10)))))
    even = w * (ATAN_1 + w * (ATAN_3 + w * (ATAN_5 + w * (ATAN_7 + w * ATAN_9))))
    back = (r * (odd + even) - low) - r
    if math.copysign(1.0, x) < 0.0:
        return math.copysign((math.pi - high) + (back + PI_LOW), y)
    return math.copysign(high - back, y)


@inlined
def acos(x: float) -> float:
    """Angle in [0, pi] of cosine x, rad; NaN outside of [-1, 1]."""
    if not abs(x) <= 1.0:
        return math.nan
    return 2.0 * atan2(math.sqrt(1.0 - x), math.sqrt(1.0 + x))


# For a configuration's or a picture's few calls: the same bits without compiling.
plain_sin, plain_cos, plain_tan, plain_acos = plain(sin), plain(cos), plain(tan), plain(acos)
