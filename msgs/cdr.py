"""Little-endian XCDR1, as ROS 2 and MCAP use it: a 4-byte header, then primitives each aligned to its own size.

A numpy record has the same bytes unless a nested struct's padding depends on where it stands, which ``check`` refuses
when the message class is created.
"""

from typing import Any

import numpy as np

from msgs.layout import primitives

HEADER = b"\x00\x01\x00\x00"
"""Encapsulation header of little-endian XCDR1, in front of every message."""


def check(name: str, dtype: np.dtype[Any]) -> None:
    """Raise TypeError naming the first field of message ``name`` whose offset in ``dtype`` is not CDR's."""
    position = 0
    for path, offset, kind in primitives(dtype):
        size = kind.itemsize
        position += -position % size
        if offset != position:
            raise TypeError(
                f"message {name}: field {path} lies at byte {offset} of the record but at byte {position} in CDR: a "
                "nested struct ends or begins with a member smaller than its largest; order them from large to small"
            )
        position += size
    if position != dtype.itemsize:
        raise TypeError(f"message {name}: the record has {dtype.itemsize - position} bytes of padding at its end")


def encode(record: Any) -> bytes:
    """One record, or a 1-element array of it, as a CDR message."""
    return HEADER + record.tobytes()


def decode(payload: bytes, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """A CDR message as a 1-element array. Raises ValueError when the payload is not of this type's size."""
    if len(payload) != len(HEADER) + dtype.itemsize or payload[:4] != HEADER:
        raise ValueError(f"a CDR message of {len(HEADER) + dtype.itemsize} bytes expected, got {len(payload)}")
    return np.frombuffer(payload, dtype, offset=len(HEADER))
