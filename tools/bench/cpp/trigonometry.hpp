// Sine, cosine and arctangent in additions, multiplications and divisions alone, as in blocks/trigonometry.py.
//
// Reductions and polynomials are those of fdlibm 5.3 (https://netlib.org/fdlibm): Copyright (C) 1993 by Sun
// Microsystems, Inc. All rights reserved. Developed at SunPro, a Sun Microsystems, Inc. business. Permission to use,
// copy, modify, and distribute this software is freely granted, provided that this notice is preserved.

#pragma once

#include <cmath>

namespace trigonometry {

struct Reduced {
    int quadrant;
    double rest, low;
};

// For finite angles of at most 2^20 rad.
inline Reduced reduced(double x) {
    const double n = std::floor(x * 6.36619772367581382433e-01 + 0.5);
    const double a = x - n * 1.57079632673412561417e00;
    const double b = a - n * 6.07710050630396597660e-11;
    const double lost = n * 2.02226624879595063154e-21 - ((a - b) - n * 6.07710050630396597660e-11);
    const double rest = b - lost;
    return {static_cast<int>(n) & 3, rest, (b - rest) - lost};
}

inline double sin_near_zero(double x, double low) {
    const double z = x * x, v = z * x;
    const double r = 8.33333333332248946124e-03 +
                     z * (-1.98412698298579493134e-04 +
                          z * (2.75573137070700676789e-06 +
                               z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)));
    return x - ((z * (0.5 * low - v * r) - low) - v * -1.66666666666666324348e-01);
}

inline double cos_near_zero(double x, double low) {
    const double z = x * x, w = z * z;
    const double r =
        z * (4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03 + z * 2.48015872894767294178e-05)) +
        w * w * (-2.75573143513906633035e-07 + z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11));
    const double half = 0.5 * z, head = 1.0 - half;
    return head + (((1.0 - head) - half) + (z * r - x * low));
}

inline double sin(double x) {
    const Reduced a = reduced(x);
    const double y = (a.quadrant & 1) == 0 ? sin_near_zero(a.rest, a.low) : cos_near_zero(a.rest, a.low);
    return a.quadrant < 2 ? y : -y;
}

inline double cos(double x) {
    const Reduced a = reduced(x);
    const double y = (a.quadrant & 1) == 0 ? cos_near_zero(a.rest, a.low) : sin_near_zero(a.rest, a.low);
    return a.quadrant == 1 || a.quadrant == 2 ? -y : y;
}

// For lengths of 0, and between 2^-900 and 2^900.
inline double atan2(double y, double x) {
    const double a = std::fabs(y), b = y == 0.0 && x == 0.0 ? 1.0 : std::fabs(x);
    double over = a, under = b, high = 0.0, low = 0.0;
    if (a >= 2.4375 * b) {
        over = -b, under = a, high = 1.57079632679489655800e00, low = 6.12323399573676603587e-17;
    } else if (a >= 1.1875 * b) {
        over = a - 1.5 * b, under = b + 1.5 * a, high = 9.82793723247329054082e-01, low = 1.39033110312309984516e-17;
    } else if (a >= 0.6875 * b) {
        over = a - b, under = a + b, high = 7.85398163397448278999e-01, low = 3.06161699786838301793e-17;
    } else if (a >= 0.4375 * b) {
        over = 2.0 * a - b, under = 2.0 * b + a, high = 4.63647609000806093515e-01, low = 2.26987774529616870924e-17;
    }
    const double r = over / under, z = r * r, w = z * z;
    const double odd =
        z * (3.33333333333329318027e-01 +
             w * (1.42857142725034663711e-01 +
                  w * (9.09088713343650656196e-02 +
                       w * (6.66107313738753120669e-02 +
                            w * (4.97687799461593236017e-02 + w * 1.62858201153657823623e-02)))));
    const double even =
        w * (-1.99999999998764832476e-01 +
             w * (-1.11111104054623557880e-01 +
                  w * (-7.69187620504482999495e-02 +
                       w * (-5.83357013379057348645e-02 + w * -3.65315727442169155270e-02))));
    const double back = (r * (odd + even) - low) - r;
    return std::copysign(std::signbit(x) ? (M_PI - high) + (back + 1.22464679914735317720e-16) : high - back, y);
}

}  // namespace trigonometry
