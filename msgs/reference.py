"""Where the planner wants the vehicle to be."""

from typing import NamedTuple

from blocks.math import Vec3
from msgs.message import message
from msgs.types import Stamp, UInt32


@message
class Reference(NamedTuple):
    """Reference sample for the controller."""

    stamp: Stamp
    position: Vec3  # m, world: the carrot
    velocity: Vec3  # m/s, world: feed-forward
    yaw: float  # rad, world
    progress: float  # m, arc length along the path
    segment: UInt32  # index of the path segment flown
