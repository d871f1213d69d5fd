"""Body-rate loop: rate setpoints as a torque.

    tau = J (K e + I) + w x J w,   e = w_sp - w              N m, body axes, x forward, y left, z up
    I  <- clamp(I + K_i e dt, +-integral_limit)              rad/s^2; frozen on an axis whose torque the mixer could not
                                                             give while the error pushes further that way

The torque cancels the gyroscopic coupling, so that each axis is left with K / (s (tau s + 1)), critically damped at
K = 1 / (4 tau) for a rotor lag tau. dt <= 0 returns the last torque and changes nothing. Source: R. Mahony, V. Kumar,
P. Corke, "Multirotor Aerial Vehicles", IEEE RAM 19(3), 2012.
"""

import math
from typing import NamedTuple

from blocks.kernel import inlined
from blocks.math import Vec3, cross
from blocks.mixer import Saturation
from blocks.pid import integrated


class Params(NamedTuple):
    """Gains per body axis."""

    inertia: Vec3  # kg m^2
    gain: Vec3  # K, 1/s
    integral_gain: Vec3  # K_i, 1/s^2
    integral_limit: float  # rad/s^2


class State(NamedTuple):
    """What one step leaves for the next."""

    integral: Vec3  # rad/s^2
    torque: Vec3  # the last output, N m


@inlined
def initial(p: Params) -> State:
    """Nothing integrated, no torque."""
    zero = p.integral_limit * 0.0
    return State(Vec3(zero, zero, zero), Vec3(zero, zero, zero))


@inlined
def step(p: Params, s: State, setpoint: Vec3, rates: Vec3, saturation: Saturation, dt: float) -> tuple[State, Vec3]:
    """The state after dt seconds, and the torque in N m. Rates in rad/s; saturation is the mixer's last report."""
    if not dt > 0.0:
        return s, s.torque
    ex, ey, ez = setpoint.x - rates.x, setpoint.y - rates.y, setpoint.z - rates.z
    k = p.integral_gain
    limit = p.integral_limit
    integral = Vec3(
        integrated(s.integral.x, k.x * ex * dt, limit, saturation.roll),
        integrated(s.integral.y, k.y * ey * dt, limit, saturation.pitch),
        integrated(s.integral.z, k.z * ez * dt, limit, saturation.yaw),
    )
    j = p.inertia
    coupling = cross(rates, Vec3(j.x * rates.x, j.y * rates.y, j.z * rates.z))
    torque = Vec3(
        j.x * (p.gain.x * ex + integral.x) + coupling.x,
        j.y * (p.gain.y * ey + integral.y) + coupling.y,
        j.z * (p.gain.z * ez + integral.z) + coupling.z,
    )
    return State(integral, torque), torque


def valid(p: Params) -> bool:
    """Inertia finite and above 0; gains and limit finite and not negative."""
    return all(math.isfinite(x) and x > 0.0 for x in p.inertia) and all(
        math.isfinite(x) and x >= 0.0 for x in (*p.gain, *p.integral_gain, p.integral_limit)
    )
