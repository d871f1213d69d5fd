"""The packets of the lockstep protocol: an edge's messages, the clock's words, and each node's reports of windows done.

All integers are little-endian. An edge packet is ``sequence i64, watermark i64, sent i64``, then for each topic of the
edge, in the producer's order of outputs, ``count u32`` and that many slots (delivery tick i64, then the CDR body of the
message, padded to 8 bytes). The watermark promises that every message delivered at that tick or before has now been
sent. ``sent`` is the machine's monotonic clock in ns, 0 when unknown: it is only measured with, never computed with.
"""

import struct
import time
from collections.abc import Sequence
from enum import IntEnum

EDGE = struct.Struct("<qqq")
COUNT = struct.Struct("<I")
TICK = struct.Struct("<q")  # at the beginning of a slot
CLOCK = struct.Struct("<qq")
DONE = struct.Struct("<qq")

NO_STOP = -1


class ClockWord(IntEnum):
    """What the clock says about a tick."""

    GRANT = 0  # step all ticks before this one
    COMMIT = 1  # what is before this tick is final
    END = 2  # the run is over; nothing from this tick on counts
    TELL = 3  # a JSON object follows, {"node", "rows"}: the node changes its records before it steps at this tick


def pack_edge(sequence: int, watermark: int, topics: Sequence[tuple[int, bytes]]) -> bytes:
    """An edge packet of (count, slots) for each topic."""
    parts = [EDGE.pack(sequence, watermark, time.monotonic_ns())]
    for count, slots in topics:
        parts += [COUNT.pack(count), slots]
    return b"".join(parts)
