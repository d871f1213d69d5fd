"""The wire types that message, state and parameter declarations are written in.

Plain annotations already say most of it: ``float`` is float64, ``int`` is int64, ``bool`` is one byte, a ``NamedTuple``
nests, ``tuple[float, float, float, float]`` or ``Annotated[tuple[X, ...], n]`` is a fixed array.
"""

import math
from typing import Annotated, NamedTuple

import numpy as np

Stamp = Annotated[int, "stamp"]
"""Simulated time, integer nanoseconds as a value; ``header.stamp`` {int32 sec, uint32 nanosec} on the wire."""

UInt8 = Annotated[int, np.uint8]
UInt16 = Annotated[int, np.uint16]
UInt32 = Annotated[int, np.uint32]
UInt64 = Annotated[int, np.uint64]


class Range(NamedTuple):
    """Closed interval a value must lie in to be valid."""

    low: float
    high: float


NonNegative = Annotated[float, Range(0.0, math.inf)]
UnitInterval = Annotated[float, Range(0.0, 1.0)]
