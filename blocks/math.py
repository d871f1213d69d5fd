"""Vectors and unit quaternions: named tuples of scalars, generic over float32 and float64.

Quaternions are Hamilton, scalar first, and rotate body coordinates into world coordinates. The world is x east, y
north, z up; a body is x forward, y left, z up. Angles are radians. Source: J. Solà, "Quaternion kinematics for the
error-state Kalman filter", arXiv:1711.02508, sections 1 and 4.
"""

import math
from typing import NamedTuple

from blocks.kernel import inlined
from blocks.trigonometry import atan2, cos, sin

Rotors = tuple[float, float, float, float]


class Vec3(NamedTuple):
    """A vector of three components in the frame its user names."""

    x: float
    y: float
    z: float


class Quat(NamedTuple):
    """A Hamilton quaternion w + xi + yj + zk; of unit length where it stands for an attitude."""

    w: float
    x: float
    y: float
    z: float


@inlined
def clamp(x: float, low: float, high: float) -> float:
    """x limited to [low, high]; a NaN stays a NaN."""
    x = low if x < low else x
    return high if x > high else x


@inlined
def add(a: Vec3, b: Vec3) -> Vec3:
    """a + b."""
    return Vec3(a.x + b.x, a.y + b.y, a.z + b.z)


@inlined
def sub(a: Vec3, b: Vec3) -> Vec3:
    """a - b."""
    return Vec3(a.x - b.x, a.y - b.y, a.z - b.z)


@inlined
def scale(a: Vec3, k: float) -> Vec3:
    """k a."""
    return Vec3(a.x * k, a.y * k, a.z * k)


@inlined
def dot(a: Vec3, b: Vec3) -> float:
    """a . b, summed left to right."""
    return a.x * b.x + a.y * b.y + a.z * b.z


@inlined
def cross(a: Vec3, b: Vec3) -> Vec3:
    """a x b, right-handed."""
    return Vec3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)


@inlined
def norm(a: Vec3) -> float:
    """Euclidean length of a."""
    return math.sqrt(a.x * a.x + a.y * a.y + a.z * a.z)


@inlined
def multiply(a: Quat, b: Quat) -> Quat:
    """Hamilton product a b: first b, then a, as rotations."""
    return Quat(
        a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
        a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
        a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
        a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
    )


@inlined
def conjugate(q: Quat) -> Quat:
    """w - xi - yj - zk: the inverse of a unit quaternion."""
    return Quat(q.w, -q.x, -q.y, -q.z)


@inlined
def normalize(q: Quat) -> Quat:
    """q / |q|; the zero quaternion gives NaN."""
    k = 1.0 / math.sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z)
    return Quat(q.w * k, q.x * k, q.y * k, q.z * k)


@inlined
def rotate(q: Quat, v: Vec3) -> Vec3:
    """R(q) v, body to world, as v + 2 w (u x v) + 2 u x (u x v) with u the vector part of unit q."""
    tx = 2.0 * (q.y * v.z - q.z * v.y)
    ty = 2.0 * (q.z * v.x - q.x * v.z)
    tz = 2.0 * (q.x * v.y - q.y * v.x)
    return Vec3(
        v.x + q.w * tx + (q.y * tz - q.z * ty),
        v.y + q.w * ty + (q.z * tx - q.x * tz),
        v.z + q.w * tz + (q.x * ty - q.y * tx),
    )


@inlined
def rotate_inverse(q: Quat, v: Vec3) -> Vec3:
    """R(q)^T v, world to body."""
    return rotate(conjugate(q), v)


@inlined
def sandwich(q: Quat, v: Vec3) -> Vec3:
    """The vector part of q v q*, (w^2 - u.u) v + 2 (u.v) u + 2 w u x v: R(q) v times |q|^2, for any q.

    Between the stages of an integrator a quaternion leaves unit length, and this is the rotation polynomial that stays
    homogeneous there; `rotate` is the better conditioned one for a unit quaternion.
    """
    a = q.w * q.w - (q.x * q.x + q.y * q.y + q.z * q.z)
    b = 2.0 * (q.x * v.x + q.y * v.y + q.z * v.z)
    c = 2.0 * q.w
    return Vec3(
        a * v.x + b * q.x + c * (q.y * v.z - q.z * v.y),
        a * v.y + b * q.y + c * (q.z * v.x - q.x * v.z),
        a * v.z + b * q.z + c * (q.x * v.y - q.y * v.x),
    )


@inlined
def body_z(q: Quat) -> Vec3:
    """R(q) e3: the body z axis (thrust direction) in the world."""
    return Vec3(2.0 * (q.x * q.z + q.w * q.y), 2.0 * (q.y * q.z - q.w * q.x), 1.0 - 2.0 * (q.x * q.x + q.y * q.y))


@inlined
def from_yaw(yaw: float) -> Quat:
    """Rotation by yaw about the world z axis: (cos yaw/2, 0, 0, sin yaw/2)."""
    half = 0.5 * yaw
    zero = half - half
    return Quat(cos(half), zero, zero, sin(half))


@inlined
def yaw_of(q: Quat) -> float:
    """Heading of the body x axis in the world xy plane, in (-pi, pi]."""
    return atan2(2.0 * (q.w * q.z + q.x * q.y), 1.0 - 2.0 * (q.y * q.y + q.z * q.z))
