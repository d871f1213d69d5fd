"""How far the run has come."""

from typing import NamedTuple

from msgs.message import message
from msgs.types import NonNegative, Stamp, UInt32


@message
class ScoreProgress(NamedTuple):
    """Progress along the course, ten times a simulated second."""

    stamp: Stamp
    speed: NonNegative  # m/s, true
    max_speed: NonNegative  # m/s, true, since takeoff
    lap: UInt32  # laps completed
    next_gate: UInt32  # index of the next gate in the course
    gates_passed: UInt32  # over all laps
    gates_total: UInt32  # over all laps
