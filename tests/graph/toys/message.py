"""A message of one number."""

from typing import NamedTuple

from msgs.message import message
from msgs.types import Stamp


@message
class Number(NamedTuple):
    """A number."""

    stamp: Stamp
    value: float  # 1
