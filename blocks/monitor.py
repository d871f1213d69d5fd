"""The quadrotor's invariants, checked in one place and named.

    I1  every parameter finite, normal in its scalar type, and within its bounds
    I2  unit attitude: | |q|^2 - 1 | <= 8 epsilon of the scalar type
    I3  0 <= rotor speed <= maximum, energy >= 0
    I4  every value of the state finite (checked first)
    I5  position.z >= ground_z

`blocks.quadrotor.step` keeps I2 to I5 from a state that satisfies them, so a violation between two steps is a caller's
doing. Source: the model's invariants above, which are this project's own.
"""

import math
from typing import NamedTuple

from blocks.kernel import inlined, kernel
from blocks.quadrotor import Params, State

NONE = 0
NON_FINITE = 1
ATTITUDE_NOT_UNIT = 2
ROTOR_SPEED = 3
ENERGY = 4
BELOW_GROUND = 5

NAMES = ("none", "non_finite", "attitude_not_unit", "rotor_speed", "energy", "below_ground")
INVARIANTS = ("", "I4", "I2", "I3", "I3", "I5")

STATE_FIELDS = (
    *(f"position.{axis}" for axis in "xyz"),
    *(f"velocity.{axis}" for axis in "xyz"),
    *(f"attitude.{part}" for part in "wxyz"),
    *(f"rates.{axis}" for axis in "xyz"),
    *(f"rotor_speed[{rotor}]" for rotor in range(4)),
    "energy",
)
ATTITUDE_FIELD = 6
ROTOR_FIELD = 13
ENERGY_FIELD = 17
HEIGHT_FIELD = 2

EPSILON_64 = 2.220446049250313e-16


class Violation(NamedTuple):
    """The first violated invariant of a state; kind indexes NAMES and INVARIANTS, field indexes STATE_FIELDS."""

    kind: int
    field: int  # -1 when nothing is violated


@inlined
def _finite(x: float) -> bool:
    return x - x == 0.0


@inlined
def values_of(s: State) -> tuple[float, ...]:
    """The numbers of a state in the order of STATE_FIELDS."""
    p, v, q, w, r = s.position, s.velocity, s.attitude, s.rates, s.rotor_speed
    return (p.x, p.y, p.z, v.x, v.y, v.z, q.w, q.x, q.y, q.z, w.x, w.y, w.z, r[0], r[1], r[2], r[3], s.energy)


@inlined
def _first_non_finite(s: State) -> int:
    """Index in STATE_FIELDS of the first value that is not finite, or -1."""
    for index, value in enumerate(values_of(s)):
        if not _finite(value):
            return index
    return -1


@kernel
def state_violation(p: Params, s: State, epsilon: float = EPSILON_64) -> Violation:
    """The first of I4, I2, I3, I5 that s violates and the field that shows it; (NONE, -1) for a valid state.

    epsilon is the distance from 1 to the next number of the scalar type. A quaternion that is not of unit length is
    reported on its scalar part.
    """
    field = _first_non_finite(s)
    if field >= 0:
        return Violation(NON_FINITE, field)
    q = s.attitude
    excess = (q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z) - 1.0
    if abs(excess) > 8.0 * epsilon:
        return Violation(ATTITUDE_NOT_UNIT, ATTITUDE_FIELD)
    for rotor, speed in enumerate(s.rotor_speed):
        if speed < 0.0 or speed > p.max_rotor_speed:
            return Violation(ROTOR_SPEED, ROTOR_FIELD + rotor)
    if s.energy < 0.0:
        return Violation(ENERGY, ENERGY_FIELD)
    if s.position.z < p.ground_z:
        return Violation(BELOW_GROUND, HEIGHT_FIELD)
    return Violation(NONE, -1)


def state_valid(p: Params, s: State, epsilon: float = EPSILON_64) -> bool:
    """Whether s satisfies I2 to I5."""
    return state_violation(p, s, epsilon).kind == NONE


def invariant_id(violation: Violation) -> str:
    """I2 to I5, or the empty string for a valid state."""
    return INVARIANTS[violation.kind]


def describe(violation: Violation) -> str:
    """For people: `I5 (below_ground): position.z`."""
    if violation.kind == NONE:
        return "valid"
    return f"{INVARIANTS[violation.kind]} ({NAMES[violation.kind]}): {STATE_FIELDS[violation.field]}"


def params_violation(p: Params, smallest_normal: float = 2.2250738585072014e-308) -> str | None:
    """Invariant I1: the first parameter out of bounds as a sentence with its value and what is valid, or None.

    smallest_normal is that of the scalar type: a coefficient below it would lose bits or vanish, so it is refused.
    """
    positive = [
        ("mass", p.mass),
        ("inertia.x", p.inertia.x),
        ("inertia.y", p.inertia.y),
        ("inertia.z", p.inertia.z),
        ("thrust_coefficient", p.thrust_coefficient),
        ("max_rotor_speed", p.max_rotor_speed),
        ("rotor_time_constant", p.rotor_time_constant),
        ("battery_capacity", p.battery_capacity),
        ("gravity", p.gravity),
    ]
    not_negative = [
        ("torque_coefficient", p.torque_coefficient),
        *((f"drag_linear.{axis}", value) for axis, value in zip("xyz", p.drag_linear)),
        *((f"drag_quadratic.{axis}", value) for axis, value in zip("xyz", p.drag_quadratic)),
        ("power_coefficient", p.power_coefficient),
        ("battery_sag", p.battery_sag),
    ]
    any_sign = [
        *((f"rotor_x[{rotor}]", value) for rotor, value in enumerate(p.rotor_x)),
        *((f"rotor_y[{rotor}]", value) for rotor, value in enumerate(p.rotor_y)),
        *((f"spin[{rotor}]", value) for rotor, value in enumerate(p.spin)),
        ("ground_z", p.ground_z),
    ]
    for name, value in positive + not_negative + any_sign:
        if not math.isfinite(value):
            return f"{name} is {value}, must be finite"
        if value != 0.0 and abs(value) < smallest_normal:
            return f"{name} is {value}, must be a normal number of the scalar type (at least {smallest_normal})"
    for name, value in positive:
        if not value > 0.0:
            return f"{name} is {value}, must be above 0"
    for name, value in not_negative:
        if value < 0.0:
            return f"{name} is {value}, must not be negative"
    if p.battery_sag >= 1.0:
        return f"battery_sag is {p.battery_sag}, must be below 1"
    for rotor, spin in enumerate(p.spin):
        if abs(spin) != 1.0:
            return f"spin[{rotor}] is {spin}, must be 1 (counter-clockwise) or -1 (clockwise)"
    longest = max(p.inertia)
    if longest > sum(p.inertia) - longest:
        return f"inertia is {tuple(p.inertia)}, its largest moment must not exceed the sum of the other two"
    return None


def params_valid(p: Params, smallest_normal: float = 2.2250738585072014e-308) -> bool:
    """Invariant I1."""
    return params_violation(p, smallest_normal) is None
