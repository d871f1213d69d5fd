"""What the estimator believes the vehicle's state to be."""

from typing import NamedTuple

from blocks.math import Quat, Vec3
from msgs.message import message
from msgs.types import Stamp


@message
class StateEstimate(NamedTuple):
    """Estimated vehicle state, valid at the stamp."""

    stamp: Stamp
    position: Vec3  # m, world
    velocity: Vec3  # m/s, world
    attitude: Quat  # unit quaternion, body to world
    body_rates: Vec3  # rad/s, body
    gyro_bias: Vec3  # rad/s, body
    accel_bias: Vec3  # m/s^2, body
    position_variance: Vec3  # m^2, world
    velocity_variance: Vec3  # m^2/s^2, world
    attitude_variance: Vec3  # rad^2, body
    staleness: int  # ns since the estimator's last correcting input
    healthy: bool  # the estimator has the inputs it needs
