"""The plant's true state."""

from typing import NamedTuple

from blocks.math import Quat, Vec3
from msgs.message import message
from msgs.types import NonNegative, Stamp


@message
class TruthState(NamedTuple):
    """The vehicle's true state, as the simulator knows it."""

    stamp: Stamp
    position: Vec3  # m, world
    velocity: Vec3  # m/s, world
    attitude: Quat  # unit quaternion, body to world
    body_rates: Vec3  # rad/s, body
    rotor_speeds: tuple[NonNegative, NonNegative, NonNegative, NonNegative]  # rad/s, PX4 Quad X order
    energy: NonNegative  # J, drawn from the battery since the start
    on_ground: bool  # at rest on the ground plane
