"""The verdict on a run."""

from enum import IntEnum
from typing import Annotated, NamedTuple

from msgs.message import message
from msgs.types import NonNegative, Stamp, UInt32

MAX_LAPS = 8


class Verdict(IntEnum):
    """Why a run ended."""

    COMPLETE = 0
    TIMEOUT = 1
    FRAME_HIT = 2
    CRASH = 3
    GEOFENCE = 4
    SPEED_LIMIT = 5


@message
class Score(NamedTuple):
    """The verdict, once, at the end of a run."""

    stamp: Stamp
    lap_times: Annotated[tuple[float, ...], MAX_LAPS]  # s, the first `laps` are filled, the rest are NaN
    gate_error_mean: float  # m, true; NaN before the first passage
    gate_error_max: float  # m, true; NaN before the first passage
    estimated_gate_error_mean: float  # m, from the estimated path; NaN before its first passage
    estimated_gate_error_max: float  # m, from the estimated path; NaN before its first passage
    max_speed: NonNegative  # m/s, true, from takeoff to the end
    duration: NonNegative  # s, simulated
    laps: UInt32  # completed
    gates_passed: UInt32  # over all laps
    gates_total: UInt32  # over all laps
    reason: UInt32  # 0 complete, 1 timeout, 2 frame_hit, 3 crash, 4 geofence, 5 speed_limit
    failed_gate: UInt32  # index of the gate whose frame was hit, else of the next gate
    success: bool
