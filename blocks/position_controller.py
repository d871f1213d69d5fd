"""Position and velocity loops: a point and a velocity to fly as a collective thrust and its direction.

    v_sp = K_p (p_ref - p) + v_ref          horizontal part limited to speed_limit, vertical to [-descent, climb]
    a_sp = K_v (v_sp - v) + I               no acceleration feed-forward
    I   <- clamp(I + K_i (v_sp - v) dt)     m/s^2; frozen where tilt or thrust is saturated and the error pushes on
    f    = a_sp + g e3                      vertical part first, then the horizontal part within the tilt limit and
                                            what the thrust limit leaves
    direction = f / |f|,  thrust = m f . R(q) e3, within [min_thrust, max_thrust]

World frame, z up, SI. The collective is projected on the body's present z axis: while the vehicle is still tilting it
gives the wanted acceleration along the axis it has. dt <= 0 returns the last output and changes nothing. Sources: R.
Mahony, V. Kumar, P. Corke, "Multirotor Aerial Vehicles", IEEE RAM 19(3), 2012; PX4-Autopilot, PositionControl (thrust
priority).
"""

import math
from typing import NamedTuple

from blocks.kernel import inlined
from blocks.math import Quat, Vec3, body_z, clamp, dot
from blocks.pid import integrated


class Params(NamedTuple):
    """Gains and limits of both loops."""

    position_gain: float  # K_p, 1/s
    velocity_gain: float  # K_v, 1/s
    integral_gain: float  # K_i, 1/s^2
    integral_limit: float  # m/s^2
    speed_limit: float  # horizontal, m/s
    climb_limit: float  # m/s
    descent_limit: float  # m/s
    tilt_tangent: float  # tangent of the largest tilt
    min_thrust: float  # N
    max_thrust: float  # N
    mass: float  # kg
    gravity: float  # m/s^2


class Output(NamedTuple):
    """Thrust along the body z axis and where that axis should point."""

    thrust: float  # N
    direction: Vec3  # world, unit


class State(NamedTuple):
    """What one step leaves for the next."""

    integral: Vec3  # m/s^2
    output: Output  # the last one


@inlined
def initial(p: Params) -> State:
    """Nothing integrated; hover thrust, upright."""
    zero = p.mass * 0.0
    hover = clamp(p.mass * p.gravity, p.min_thrust, p.max_thrust)
    return State(Vec3(zero, zero, zero), Output(hover, Vec3(zero, zero, zero + 1.0)))


@inlined
def velocity_setpoint(p: Params, position: Vec3, target: Vec3, feedforward: Vec3) -> Vec3:
    """v_sp in m/s, within the speed limits."""
    x = p.position_gain * (target.x - position.x) + feedforward.x
    y = p.position_gain * (target.y - position.y) + feedforward.y
    z = p.position_gain * (target.z - position.z) + feedforward.z
    speed = math.sqrt(x * x + y * y)
    if speed > p.speed_limit:
        k = p.speed_limit / speed
        x, y = x * k, y * k
    return Vec3(x, y, clamp(z, -p.descent_limit, p.climb_limit))


@inlined
def step(
    p: Params, s: State, position: Vec3, velocity: Vec3, attitude: Quat, target: Vec3, feedforward: Vec3, dt: float
) -> tuple[State, Output]:
    """The state after dt seconds, and the thrust to give. target in m and feedforward (velocity) in m/s, world."""
    if not dt > 0.0:
        return s, s.output
    wanted = velocity_setpoint(p, position, target, feedforward)
    ex, ey, ez = wanted.x - velocity.x, wanted.y - velocity.y, wanted.z - velocity.z
    i = s.integral
    x = p.velocity_gain * ex + i.x
    y = p.velocity_gain * ey + i.y
    z = p.velocity_gain * ez + i.z + p.gravity

    least, most = p.min_thrust / p.mass, p.max_thrust / p.mass
    vertical = 1 if z > most else (-1 if z < least else 0)
    z = clamp(z, least, most)
    across = math.sqrt(x * x + y * y)
    room = math.sqrt(most * most - z * z)
    tilt_room = p.tilt_tangent * z
    room = tilt_room if tilt_room < room else room
    level = across > room
    pushing = level and x * ex + y * ey > 0.0
    if level:
        k = room / across
        x, y = x * k, y * k

    step_size = p.integral_gain * dt
    limit = p.integral_limit
    integral = Vec3(
        i.x if pushing else integrated(i.x, step_size * ex, limit, 0),
        i.y if pushing else integrated(i.y, step_size * ey, limit, 0),
        integrated(i.z, step_size * ez, limit, vertical),
    )
    k = 1.0 / math.sqrt(x * x + y * y + z * z)
    thrust = clamp(p.mass * dot(Vec3(x, y, z), body_z(attitude)), p.min_thrust, p.max_thrust)
    output = Output(thrust, Vec3(x * k, y * k, z * k))
    return State(integral, output), output


def valid(p: Params) -> bool:
    """Gains and integral limit not negative; limits, mass and gravity above 0; thrust limits around the weight."""
    return (
        all(math.isfinite(x) and x >= 0.0 for x in p)
        and all(x > 0.0 for x in p[4:])
        and p.min_thrust < p.mass * p.gravity < p.max_thrust
    )
