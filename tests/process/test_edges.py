"""Whatever comes over an edge that its producer does not owe is refused before anything is computed from it."""

import queue
import struct

import numpy as np
import pytest

from graph.memory import Log
from graph.process.edges import InEdge, PacketError
from graph.process.packets import pack_edge
from graph.process.plan import FIRST_COUNT
from msgs.message import log_dtype
from tests.graph.toys.message import Number

LAST = 100


class Line:
    """Payloads in order."""

    def __init__(self) -> None:
        self._payloads: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self.put = self._payloads.put

    def recv(self) -> bytes:
        """The next one."""
        return self._payloads.get()


def slots(*ticks: int) -> tuple[int, bytes]:
    """Messages delivered at those ticks."""
    array = np.zeros(len(ticks), log_dtype(Number))
    array["tick"] = ticks
    return len(ticks), array.tobytes()


def edge(*payloads: bytes) -> tuple[InEdge, Log]:
    line, log = Line(), Log(Number, 8)
    for payload in payloads:
        line.put(payload)
    tally = memoryview(bytearray(8 * (FIRST_COUNT + 1))).cast("q")
    return InEdge("sender", line, [log], 0, tally, LAST), log


def test_packets_fill_the_log_up_to_their_watermark() -> None:
    into, log = edge(pack_edge(0, 4, [slots(1, 4)]), pack_edge(1, 4, [slots()]), pack_edge(2, 9, [slots(5, 11)]))
    for watermark in (4, 4, 9):
        into.receive()
        assert into.watermark == watermark
    assert [int(tick) for tick in log.ring["tick"][:4]] == [1, 4, 5, 11]
    assert into.ready(9)
    assert not into.ready(10)


@pytest.mark.parametrize(
    ("payload", "text"),
    [
        (b"", "0 bytes came instead of packet 1; they are no packet"),
        (pack_edge(1, 9, [(3, b"")]), "they are no packet"),
        (pack_edge(1, 9, [(100, slots(*range(5, 105))[1])]), "they are no packet"),
        (pack_edge(0, 9, [slots()]), "packet 0 came a second time"),
        (pack_edge(2, 9, [slots()]), "packet 1 was lost, packet 2 came in its place"),
        (pack_edge(1, 9, [slots(5)]) + b"more", "packet 1 has 4 bytes too many"),
        (pack_edge(1, 3, [slots()]), "packet 1 promises less than the one before it"),
        (pack_edge(1, 9, [slots(4)]), "packet 1 has messages of ticks 4 to 4, while all up to 4 have been sent"),
        (pack_edge(1, 1 << 62, [slots()]), "promises tick 4611686018427387904, which it does not step to"),
        (pack_edge(1, 9, [slots(8, 6)]), "packet 1 has messages of ticks 8 to 6, while all up to 4 have been sent"),
    ],
    ids=range(10),
)
def test_what_is_not_owed_is_refused(payload: bytes, text: str) -> None:
    into, _ = edge(pack_edge(0, 4, [slots(1)]), payload)
    into.receive()
    with pytest.raises(PacketError) as caught:
        into.receive()
    assert str(caught.value).endswith(text)
    assert caught.value.producer == "sender"


def test_a_slot_begins_with_its_tick() -> None:
    assert struct.unpack_from("<q", slots(7)[1]) == (7,)
