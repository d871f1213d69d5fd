"""The two ends of an edge: what one node sends another in order, in packets that say how far they reach."""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from graph.memory import Log
from graph.process.packets import COUNT, EDGE, TICK, pack_edge
from graph.process.plan import FIRST_COUNT, LATENCY_NS, PACKETS
from graph.wiring import Instance


class PacketSource(Protocol):
    """A blocking source of payloads."""

    def recv(self) -> bytes:
        """The next payload."""


class PacketError(RuntimeError):
    """What came over an edge is not what its producer owes it; the text says which packet and why."""

    def __init__(self, producer: str, text: str) -> None:
        super().__init__(text)
        self.producer = producer


class OutEdge:
    """The sending end. Packets go out as soon as the consumer's next step can be served, or once per window."""

    def __init__(
        self, put: Callable[[bytes], None], logs: Sequence[Log], consumer: Instance | None, delay: int, period_ns: int
    ) -> None:
        """``consumer`` None: packets once per window. ``delay`` is 1 on a delayed edge, else 0."""
        self._put = put
        self._logs = [(log, log.buffer(), len(log.ring), log.ring.itemsize) for log in logs]
        self._sent = [0] * len(logs)
        self._sequence = 0
        self._consumer = consumer
        self._delay = delay
        self._period_ns = period_ns
        self._k = 0
        self.needed = self._need(0) if consumer is not None else None

    def _need(self, k: int) -> int:
        assert self._consumer is not None
        return self._consumer.first_tick(k, self._period_ns) - self._delay

    def advance(self, watermark: int) -> None:
        """Send when the consumer has a step that everything up to ``watermark`` completes."""
        if self.needed is None or self.needed > watermark:
            return
        self.send(watermark)
        self._k = max(self._k + 1, self._consumer.step_at_or_after(watermark + self._delay + 1, self._period_ns))  # type: ignore[union-attr]
        self.needed = self._need(self._k)

    def send(self, watermark: int) -> None:
        """Send every message not sent yet."""
        topics = []
        for index, (log, buffer, length, size) in enumerate(self._logs):
            begin, end = self._sent[index], int(log.count[0])
            self._sent[index] = end
            if begin == end:
                topics.append((0, b""))
                continue
            first, last = begin & (length - 1), end & (length - 1)
            if first < last:
                slots = bytes(buffer[first * size : last * size])
            else:
                slots = bytes(buffer[first * size :]) + bytes(buffer[: last * size])
            topics.append((end - begin, slots))
        self._put(pack_edge(self._sequence, watermark, topics))
        self._sequence += 1


class InEdge:
    """The receiving end: fills the logs of the topics it carries."""

    def __init__(
        self, producer: str, source: PacketSource, logs: Sequence[Log], delay: int, tally: memoryview, last: int
    ) -> None:
        """``tally``: the edge's part of the board; ``last``: the latest tick that can be promised in this run."""
        self.producer = producer
        self._source = source
        self._logs = list(logs)
        self._sequence = 0
        self._delay = delay
        self._tally = tally
        self._last = last
        self.watermark = -1

    def ready(self, tick: int) -> bool:
        """Whether everything a step at ``tick`` takes from this edge is here."""
        return self.watermark >= tick - self._delay

    def receive(self) -> None:
        """Take the next packet, waiting for it. Raises PacketError when another came, or something that is none."""
        payload = self._source.recv()
        try:
            self._take(payload)
        except (struct.error, ValueError):
            raise PacketError(
                self.producer, f"{len(payload)} bytes came instead of packet {self._sequence}; they are no packet"
            ) from None

    def _take(self, payload: bytes) -> None:
        sequence, watermark, sent = EDGE.unpack_from(payload)
        if sequence < self._sequence:
            raise PacketError(self.producer, f"packet {sequence} came a second time")
        if sequence > self._sequence:
            raise PacketError(self.producer, f"packet {self._sequence} was lost, packet {sequence} came in its place")
        self._sequence += 1
        tally, position = self._tally, EDGE.size
        tally[PACKETS] += 1
        tally[LATENCY_NS] += time.monotonic_ns() - sent if sent else 0
        for number, log in enumerate(self._logs, FIRST_COUNT):
            (count,) = COUNT.unpack_from(payload, position)
            position += COUNT.size
            tally[number] += count
            if count:
                log.append_bytes(payload, position, count)
                self._check_ticks(payload, position, count, log.ring.itemsize)
                position += count * log.ring.itemsize
        if position != len(payload):
            raise PacketError(self.producer, f"packet {sequence} has {len(payload) - position} bytes too many")
        if watermark < self.watermark:
            raise PacketError(self.producer, f"packet {sequence} promises less than the one before it")
        if watermark > self._last:
            raise PacketError(self.producer, f"packet {sequence} promises tick {watermark}, which it does not step to")
        self.watermark = watermark

    def _check_ticks(self, payload: bytes, position: int, count: int, size: int) -> None:
        (first,) = TICK.unpack_from(payload, position)
        (last,) = TICK.unpack_from(payload, position + (count - 1) * size)
        if not self.watermark < first <= last:
            raise PacketError(
                self.producer,
                f"packet {self._sequence - 1} has messages of ticks {first} to {last}, "
                f"while all up to {self.watermark} have been sent",
            )
