"""Rotor speed setpoints: what the flight controller asks of the motors."""

from typing import NamedTuple

from msgs.message import message
from msgs.types import NonNegative, Stamp


@message
class RotorCommand(NamedTuple):
    """Rotor speed setpoints, held until the next."""

    stamp: Stamp
    speeds: tuple[NonNegative, NonNegative, NonNegative, NonNegative]  # rad/s, PX4 Quad X order
