"""What the flight controller says of itself."""

from enum import IntEnum
from typing import NamedTuple

from blocks.math import Vec3
from msgs.message import message
from msgs.types import Stamp, UInt8


class FcMode(IntEnum):
    """Which command drives the rotors."""

    FAILSAFE = 0
    THRUST_RATES = 1
    MOTORS = 2


@message
class FcStatus(NamedTuple):
    """State of the flight controller."""

    stamp: Stamp
    body_rates: Vec3  # rad/s, body, low-passed gyro
    body_rates_setpoint: Vec3  # rad/s, body
    command_age: int  # ns since the command in force was received; -1: none yet
    mode: UInt8  # 0 failsafe, 1 thrust_rates, 2 motors
    saturation: UInt8  # mixer saturation: bits 0-2 roll, pitch, yaw reduced; bit 3 collective shifted
