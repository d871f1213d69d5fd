"""The randomization a run drew."""

from typing import NamedTuple

from blocks.math import Vec3
from msgs.message import message
from msgs.types import Stamp, UInt64


@message
class SimConfig(NamedTuple):
    """What was drawn from the seed, once at the start of a run."""

    stamp: Stamp
    seed: UInt64  # of the run
    mass_factor: float  # 1, true over nominal
    inertia_factor: float  # 1, true over nominal
    drag_factor: float  # 1, true over nominal
    motor_time_constant_factor: float  # 1, true over nominal
    start_position: Vec3  # m, world, with its jitter
    start_yaw: float  # rad, world, with its jitter
