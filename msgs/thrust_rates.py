"""Collective thrust and body-rate setpoints: the flight controller's usual command."""

from typing import NamedTuple

from blocks.math import Vec3
from msgs.message import message
from msgs.types import NonNegative, Stamp


@message
class ThrustRates(NamedTuple):
    """Command to the flight controller's rate loop."""

    stamp: Stamp
    thrust: NonNegative  # N, collective along body z
    body_rates: Vec3  # rad/s, body, setpoint
