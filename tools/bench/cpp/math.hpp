// Vectors and unit quaternions, as in blocks/math.py: Hamilton, scalar first, body to world.

#pragma once

#include <cmath>

#include "trigonometry.hpp"

struct Vec3 {
    double x, y, z;
};

struct Quat {
    double w, x, y, z;
};

struct Rotors {
    double r0, r1, r2, r3;
};

inline double clamp(double x, double low, double high) { return x < low ? low : (x > high ? high : x); }

inline Rotors clamp(const Rotors& u, double low, double high) {
    return {clamp(u.r0, low, high), clamp(u.r1, low, high), clamp(u.r2, low, high), clamp(u.r3, low, high)};
}

inline Vec3 operator+(const Vec3& a, const Vec3& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }

inline Vec3 operator-(const Vec3& a, const Vec3& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }

inline Vec3 operator*(const Vec3& a, double k) { return {a.x * k, a.y * k, a.z * k}; }

inline double dot(const Vec3& a, const Vec3& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

inline double dot(const Rotors& a, const Rotors& b) {
    return (a.r0 * b.r0 + a.r1 * b.r1) + (a.r2 * b.r2 + a.r3 * b.r3);
}

inline double sum(const Rotors& r) { return (r.r0 + r.r1) + (r.r2 + r.r3); }

inline Vec3 cross(const Vec3& a, const Vec3& b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

inline double norm(const Vec3& a) { return std::sqrt(dot(a, a)); }

inline double norm_squared(const Quat& q) { return q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z; }

inline Quat conjugate(const Quat& q) { return {q.w, -q.x, -q.y, -q.z}; }

// Hamilton product: first b, then a, as rotations.
inline Quat operator*(const Quat& a, const Quat& b) {
    return {a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
            a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}

inline Quat normalize(const Quat& q) {
    const double k = 1.0 / std::sqrt(norm_squared(q));
    return {q.w * k, q.x * k, q.y * k, q.z * k};
}

// R(q) v for unit q, body to world.
inline Vec3 rotate(const Quat& q, const Vec3& v) {
    const double tx = 2.0 * (q.y * v.z - q.z * v.y);
    const double ty = 2.0 * (q.z * v.x - q.x * v.z);
    const double tz = 2.0 * (q.x * v.y - q.y * v.x);
    return {v.x + q.w * tx + (q.y * tz - q.z * ty), v.y + q.w * ty + (q.z * tx - q.x * tz),
            v.z + q.w * tz + (q.x * ty - q.y * tx)};
}

inline Vec3 rotate_inverse(const Quat& q, const Vec3& v) { return rotate(conjugate(q), v); }

// The vector part of q v q*, for any q.
inline Vec3 sandwich(const Quat& q, const Vec3& v) {
    const double a = q.w * q.w - (q.x * q.x + q.y * q.y + q.z * q.z);
    const double b = 2.0 * (q.x * v.x + q.y * v.y + q.z * v.z);
    const double c = 2.0 * q.w;
    return {a * v.x + b * q.x + c * (q.y * v.z - q.z * v.y), a * v.y + b * q.y + c * (q.z * v.x - q.x * v.z),
            a * v.z + b * q.z + c * (q.x * v.y - q.y * v.x)};
}

// R(q) e3, the thrust direction in the world.
inline Vec3 body_z(const Quat& q) {
    return {2.0 * (q.x * q.z + q.w * q.y), 2.0 * (q.y * q.z - q.w * q.x), 1.0 - 2.0 * (q.x * q.x + q.y * q.y)};
}

inline double yaw_of(const Quat& q) {
    return trigonometry::atan2(2.0 * (q.w * q.z + q.x * q.y), 1.0 - 2.0 * (q.y * q.y + q.z * q.z));
}
