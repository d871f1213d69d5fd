"""The header of one camera frame."""

from typing import NamedTuple

from msgs.message import message
from msgs.types import Stamp, UInt16, UInt32


@message
class CameraFrame(NamedTuple):
    """Header of a camera frame; its pixels, when wanted, are on a topic of their own."""

    stamp: Stamp
    sequence: UInt32  # frame number since the start
    width: UInt16  # px
    height: UInt16  # px
    corrupted: bool  # the frame's content is not to be trusted
