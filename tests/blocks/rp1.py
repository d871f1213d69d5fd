"""The RP-1 racing quadrotor, its states at rest, and conversions the block tests share."""

import struct
from collections.abc import Callable, Iterable
from typing import Any

from blocks.camera import Params as Camera
from blocks.camera import mount
from blocks.math import Quat, Vec3
from blocks.quadrotor import Params, State

NO_GROUND = -1e9

RP1 = Params(
    mass=1.0,
    inertia=Vec3(0.0027, 0.0051, 0.0075),
    rotor_x=(0.078, -0.078, 0.078, -0.078),
    rotor_y=(-0.078, 0.078, 0.078, -0.078),
    spin=(1.0, 1.0, -1.0, -1.0),
    thrust_coefficient=8.9e-7,
    torque_coefficient=0.010,
    max_rotor_speed=3711.0,
    rotor_time_constant=0.02,
    drag_linear=Vec3(0.27, 0.27, 0.50),
    drag_quadratic=Vec3(0.004, 0.015, 0.0),
    power_coefficient=1.2e-8,
    battery_capacity=104000.0,
    battery_sag=0.2,
    gravity=9.80665,
    ground_z=0.0,
)

CAMERA = Camera(
    width=820.0,
    height=616.0,
    fx=292.0,
    fy=292.0,
    cx=410.0,
    cy=308.0,
    k1=0.0,
    k2=0.0,
    k3=0.0,
    k4=0.0,
    position=Vec3(0.09, 0.0, 0.055),
    attitude=mount(0.3490658503988659),
)

ZERO = Vec3(0.0, 0.0, 0.0)
LEVEL = Quat(1.0, 0.0, 0.0, 0.0)


def still(height: float, rotor_speed: float = 0.0, *, on_ground: bool = False) -> State:
    """A level vehicle at rest above the origin, its rotors at one speed."""
    return State(Vec3(0.0, 0.0, height), ZERO, LEVEL, ZERO, (rotor_speed,) * 4, 0.0, on_ground)


def numbers(value: object) -> list[Any]:
    """The scalars of a nested tuple, in order."""
    if isinstance(value, tuple):
        return [x for part in value for x in numbers(part)]
    return [value]


def mapped(value: Any, convert: Callable[[float], Any]) -> Any:
    """A nested tuple with convert applied to each float in it."""
    if isinstance(value, tuple):
        parts = [mapped(part, convert) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return convert(value) if isinstance(value, float) else value


def bits(values: Iterable[Any]) -> list[str]:
    """Each number as the hexadecimal digits of its double."""
    return [struct.pack(">d", float(x)).hex() for x in values]
