"""The gates seen in one camera frame."""

from typing import Annotated, NamedTuple

from msgs.message import message
from msgs.types import NonNegative, Stamp, UInt32, UnitInterval

MAX_VISIBLE_GATES = 4


class Pixel(NamedTuple):
    """A point in the image."""

    u: float  # px, right
    v: float  # px, down


class GateObservation(NamedTuple):
    """One gate's four inner corners in the image."""

    corners: tuple[Pixel, Pixel, Pixel, Pixel]  # px: top left, top right, bottom right, bottom left as flown at
    corner_variance: NonNegative  # px^2, of each coordinate of each corner
    quality: UnitInterval  # 1: certain
    gate: int  # index of the gate in the course


@message
class GateObservations(NamedTuple):
    """The nearest gates whose four inner corners are in front of the camera and inside the image."""

    stamp: Stamp
    gates: Annotated[tuple[GateObservation, ...], MAX_VISIBLE_GATES]  # nearest first; the first `visible` are filled
    sequence: UInt32  # of the camera frame
    visible: UInt32  # gates seen
