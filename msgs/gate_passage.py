"""One gate flown through."""

from typing import NamedTuple

from msgs.message import message
from msgs.types import NonNegative, Stamp, UInt32


@message
class GatePassage(NamedTuple):
    """The true path crossed a gate's plane inside its opening, in sequence order; the stamp is the tick that saw it."""

    stamp: Stamp
    time: NonNegative  # s, of the crossing, interpolated between two truth samples
    gate_error: NonNegative  # m, true distance from the gate's centre in its plane
    estimated_gate_error: float  # m, the same from the estimated path, prolonged straight; NaN when it leads elsewhere
    speed: NonNegative  # m/s, true, at the crossing
    lap_time: float  # s, of the lap this passage completes, else NaN
    gate: UInt32  # index of the gate in the course
    lap: UInt32  # lap flown, from 0
