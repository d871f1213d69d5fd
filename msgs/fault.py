"""A fault beginning or ending."""

from enum import IntEnum
from typing import NamedTuple

from blocks.math import Vec3
from msgs.message import message
from msgs.types import Stamp, UInt8


class FaultKind(IntEnum):
    """The faults that can be injected."""

    IMU_BIAS_STEP = 0
    CAMERA_CORRUPT = 1
    CAMERA_BLACKOUT = 2
    COMMAND_DELAY = 3
    LINK_LOSS = 4
    MOTOR_SCALE = 5


@message
class Fault(NamedTuple):
    """A fault begins (`active`) or ends; the nodes it concerns act on it from their next step."""

    stamp: Stamp
    gyro_bias: Vec3  # rad/s, imu_bias_step
    accel_bias: Vec3  # m/s^2, imu_bias_step
    value: float  # camera_corrupt: probability; command_delay: s; motor_scale: fraction of the commanded thrust
    kind: UInt8  # 0 imu_bias_step, 1 camera_corrupt, 2 camera_blackout, 3 command_delay, 4 link_loss, 5 motor_scale
    rotor: UInt8  # motor_scale: rotor index, PX4 Quad X order
    active: bool  # true: begins, false: ends
