"""A violated invariant of the plant."""

from typing import NamedTuple

from msgs.message import message
from msgs.types import Stamp, UInt32


@message
class Violation(NamedTuple):
    """The plant's state breaks an invariant and must not be stepped; it ends the run."""

    stamp: Stamp
    command: tuple[float, float, float, float]  # rad/s, rotor speeds commanded in the step that led here
    value: float  # of the field that shows it, in the field's unit
    step: int  # index of the physics step that would have been next
    kind: UInt32  # index into blocks.monitor.NAMES
    field: UInt32  # index into blocks.monitor.STATE_FIELDS
