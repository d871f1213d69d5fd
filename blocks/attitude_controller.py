"""Attitude loop, tilt first: a wanted thrust direction and heading as body-rate setpoints.

    (w_x, w_y) = K_tilt angle(e3, d) (e3 x d) / |e3 x d|,  d = R(q)^T direction       limited together to rate_limit
    w_z        = K_yaw (heading error, wrapped)                                       limited to +-yaw_rate_limit

The tilt error is the angle from the body z axis to the wanted direction and knows nothing of heading: a large heading
error, such as the reversal in a split-S, must not leak into roll and pitch, as it does in the error of a full attitude
quaternion. Radians, rad/s; rates in body axes. Source: D. Brescianini, M. Hehn, R. D'Andrea, "Nonlinear quadrocopter
attitude control", ETH Zurich, 2013, section 4 (reduced attitude).
"""

import math
from typing import NamedTuple

from blocks.kernel import inlined
from blocks.math import Quat, Vec3, clamp, rotate_inverse
from blocks.trigonometry import atan2, cos, sin


class Params(NamedTuple):
    """Gains and limits."""

    tilt_gain: float  # 1/s
    yaw_gain: float  # 1/s
    rate_limit: float  # roll and pitch together, rad/s
    yaw_rate_limit: float  # rad/s


@inlined
def yaw_error(q: Quat, yaw: float) -> float:
    """yaw less the heading of the body x axis, in [-pi, pi]; any multiple of a turn in yaw makes no difference."""
    forward_x = 1.0 - 2.0 * (q.y * q.y + q.z * q.z)
    forward_y = 2.0 * (q.w * q.z + q.x * q.y)
    c, s = cos(yaw), sin(yaw)
    return atan2(forward_x * s - forward_y * c, forward_x * c + forward_y * s)


@inlined
def step(p: Params, attitude: Quat, direction: Vec3, yaw: float) -> Vec3:
    """Body-rate setpoints for a unit thrust direction (world) and a heading (rad)."""
    d = rotate_inverse(attitude, direction)
    across = math.sqrt(d.x * d.x + d.y * d.y)
    rate = p.tilt_gain * atan2(across, d.z)
    rate = p.rate_limit if rate > p.rate_limit else rate
    zero = p.tilt_gain * 0.0
    wz = clamp(p.yaw_gain * yaw_error(attitude, yaw), -p.yaw_rate_limit, p.yaw_rate_limit)
    if not across > 0.0:
        # Already there, or upside down exactly, where every axis is as good: roll.
        return Vec3(rate, zero, wz)
    k = rate / across
    return Vec3(-d.y * k, d.x * k, wz)


def valid(p: Params) -> bool:
    """Every number finite and not negative, the limits above 0."""
    return all(math.isfinite(x) and x >= 0.0 for x in p) and p.rate_limit > 0.0 and p.yaw_rate_limit > 0.0
