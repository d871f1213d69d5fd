"""One inertial measurement."""

from typing import NamedTuple

from blocks.math import Vec3
from msgs.message import message
from msgs.types import Stamp, UInt8


@message
class ImuSample(NamedTuple):
    """Inertial sample at the stamp, body frame; delivered one IMU latency later."""

    stamp: Stamp
    body_rates: Vec3  # rad/s, body, with bias and noise
    specific_force: Vec3  # m/s^2, body, with bias and noise
    saturation: UInt8  # bits 0-2: gyro x, y, z clipped; bits 3-5: accelerometer x, y, z clipped
