"""Normalised thrust per rotor: the command that bypasses the rate loop."""

from typing import NamedTuple

from msgs.message import message
from msgs.types import Stamp, UnitInterval


@message
class MotorCommand(NamedTuple):
    """Command to the rotors directly, past the rate loop."""

    stamp: Stamp
    thrusts: tuple[UnitInterval, UnitInterval, UnitInterval, UnitInterval]  # 1 = maximum thrust, PX4 Quad X order
