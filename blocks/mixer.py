"""Mixer: the wanted thrust and torque as four rotor thrusts, within what each rotor can give.

    f = A^-1 (T, tau)                                            N
    rows of A: 1; y_i; -x_i; -spin_i k_m                         T in N, tau in N m, body axes

When the wrench asks for more than the rotors have, it is cut in PX4's order of priority: mix without yaw; shift the
collective within the room there is; scale roll and pitch, together; add what yaw still fits. Like PX4 in airmode the
collective may rise for tilt; PX4's margin for yaw above full thrust is left out, so no output passes its limit. Source:
PX4-Autopilot, ControlAllocationSequentialDesaturation.
"""

import math
from typing import NamedTuple

from blocks.kernel import inlined
from blocks.math import Rotors, Vec3, clamp
from blocks.quadrotor import Params as Vehicle


class Params(NamedTuple):
    """The inverse of A by columns (thrust per unit of each demand) and the rotors' limits."""

    collective: Rotors  # N per N
    roll: Rotors  # N per N m
    pitch: Rotors  # N per N m
    yaw: Rotors  # N per N m
    min_thrust: float  # of one rotor, N
    max_thrust: float  # of one rotor, N
    min_speed: float  # rad/s
    max_speed: float  # rad/s
    thrust_coefficient: float  # k_f, N / (rad/s)^2


class Saturation(NamedTuple):
    """Per axis the direction in which the demand could not be met: +1, -1, or 0 where it was."""

    thrust: int
    roll: int
    pitch: int
    yaw: int


class Mix(NamedTuple):
    """What the mixer hands on."""

    thrusts: Rotors  # N, each in [min_thrust, max_thrust]
    saturation: Saturation


@inlined
def _min4(a: Rotors) -> float:
    low = a[0] if a[0] < a[1] else a[1]
    high = a[2] if a[2] < a[3] else a[3]
    return low if low < high else high


@inlined
def _max4(a: Rotors) -> float:
    low = a[0] if a[0] > a[1] else a[1]
    high = a[2] if a[2] > a[3] else a[3]
    return low if low > high else high


@inlined
def _sign(x: float) -> int:
    return int(x > 0.0) - int(x < 0.0)


@inlined
def _fits(thrust: float, more: float, low: float, high: float, share: float) -> float:
    """The largest part of share (in [0, 1]) of `more` that keeps thrust + part * more in [low, high]."""
    room = high - thrust if more > 0.0 else low - thrust
    return room / more if share * abs(more) > abs(room) else share


@inlined
def step(p: Params, thrust: float, torque: Vec3) -> Mix:
    """Rotor thrusts for a collective thrust (N, along body z) and a torque (N m, body axes), and what was cut."""
    low, high = p.min_thrust, p.max_thrust
    r0 = p.roll[0] * torque.x + p.pitch[0] * torque.y
    r1 = p.roll[1] * torque.x + p.pitch[1] * torque.y
    r2 = p.roll[2] * torque.x + p.pitch[2] * torque.y
    r3 = p.roll[3] * torque.x + p.pitch[3] * torque.y
    c0, c1, c2, c3 = p.collective
    least = _min4((r0, r1, r2, r3))
    most = _max4((r0, r1, r2, r3))

    # Tilt has first call on the range: the collective moves over for it, and only a span that fits nowhere is scaled.
    span = most - least
    tilted = span > high - low
    if tilted:
        share = (high - low) / span
        r0, r1, r2, r3 = r0 * share, r1 * share, r2 * share, r3 * share
    f0 = c0 * thrust + r0
    f1 = c1 * thrust + r1
    f2 = c2 * thrust + r2
    f3 = c3 * thrust + r3
    below = low - _min4((f0, f1, f2, f3))
    above = _max4((f0, f1, f2, f3)) - high
    zero = thrust * 0.0
    shift = -above if above > zero else zero
    shift = below if below > zero else shift
    f0, f1, f2, f3 = f0 + shift, f1 + shift, f2 + shift, f3 + shift
    f0, f1, f2, f3 = clamp(f0, low, high), clamp(f1, low, high), clamp(f2, low, high), clamp(f3, low, high)

    y0, y1, y2, y3 = p.yaw[0] * torque.z, p.yaw[1] * torque.z, p.yaw[2] * torque.z, p.yaw[3] * torque.z
    whole = zero + 1.0
    share = _fits(f0, y0, low, high, whole)
    share = _fits(f1, y1, low, high, share)
    share = _fits(f2, y2, low, high, share)
    share = _fits(f3, y3, low, high, share)
    thrusts = (
        clamp(f0 + share * y0, low, high),
        clamp(f1 + share * y1, low, high),
        clamp(f2 + share * y2, low, high),
        clamp(f3 + share * y3, low, high),
    )
    # The unmet part of a thrust demand lies opposite to the shift.
    return Mix(
        thrusts,
        Saturation(
            _sign(-shift),
            _sign(torque.x) if tilted else 0,
            _sign(torque.y) if tilted else 0,
            _sign(torque.z) if share < whole else 0,
        ),
    )


@inlined
def rotor_speeds(p: Params, thrusts: Rotors) -> Rotors:
    """w_i = sqrt(T_i / k_f), rad/s, within the speed limits (a full battery is assumed)."""
    return (
        clamp(math.sqrt(thrusts[0] / p.thrust_coefficient), p.min_speed, p.max_speed),
        clamp(math.sqrt(thrusts[1] / p.thrust_coefficient), p.min_speed, p.max_speed),
        clamp(math.sqrt(thrusts[2] / p.thrust_coefficient), p.min_speed, p.max_speed),
        clamp(math.sqrt(thrusts[3] / p.thrust_coefficient), p.min_speed, p.max_speed),
    )


def _inverse(matrix: list[list[float]]) -> list[list[float]]:
    """Gauss-Jordan with partial pivoting, in plain arithmetic: no bit depends on a linear algebra library."""
    n = len(matrix)
    work = [list(row) + [1.0 if i == j else 0.0 for j in range(n)] for i, row in enumerate(matrix)]
    for column in range(n):
        pivot = max(range(column, n), key=lambda row: abs(work[row][column]))
        if work[pivot][column] == 0.0:
            raise ValueError("the rotor positions and spins do not span thrust, roll, pitch and yaw")
        work[column], work[pivot] = work[pivot], work[column]
        head = work[column][column]
        work[column] = [value / head for value in work[column]]
        for row in range(n):
            if row != column:
                factor = work[row][column]
                work[row] = [a - factor * b for a, b in zip(work[row], work[column])]
    return [row[n:] for row in work]


def params_for(vehicle: Vehicle, min_speed: float) -> Params:
    """The mixer of a vehicle whose rotors are kept above min_speed (rad/s).

    Raises ValueError when the rotors cannot produce the four demands independently, or min_speed is not in
    [0, max_rotor_speed).
    """
    if not 0.0 <= min_speed < vehicle.max_rotor_speed:
        raise ValueError(f"min_speed is {min_speed}, must be at least 0 and below {vehicle.max_rotor_speed} rad/s")
    inverse = _inverse(
        [
            [1.0, 1.0, 1.0, 1.0],
            list(vehicle.rotor_y),
            [-x for x in vehicle.rotor_x],
            [-spin * vehicle.torque_coefficient for spin in vehicle.spin],
        ]
    )
    collective, roll, pitch, yaw = ((rows[0], rows[1], rows[2], rows[3]) for rows in zip(*inverse))
    k = vehicle.thrust_coefficient
    return Params(
        collective=collective,
        roll=roll,
        pitch=pitch,
        yaw=yaw,
        min_thrust=k * min_speed * min_speed,
        max_thrust=k * vehicle.max_rotor_speed * vehicle.max_rotor_speed,
        min_speed=min_speed,
        max_speed=vehicle.max_rotor_speed,
        thrust_coefficient=k,
    )


def valid(p: Params) -> bool:
    """Every number finite, 0 <= min < max for thrust and speed, k_f above 0."""
    numbers = (*p.collective, *p.roll, *p.pitch, *p.yaw, *p[4:])
    return (
        all(math.isfinite(x) for x in numbers)
        and 0.0 <= p.min_thrust < p.max_thrust
        and 0.0 <= p.min_speed < p.max_speed
        and p.thrust_coefficient > 0.0
    )
