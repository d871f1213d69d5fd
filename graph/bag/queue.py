"""Messages of one channel that wait to be merged, already in the form of MCAP message records."""

import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from graph.bag.records import MESSAGE_FIELDS_SIZE, MESSAGE_HEAD, Opcode, record, windows
from msgs.cdr import HEADER


class ChannelQueue:
    """A growing array of message records of one channel.

    Everything in a record that is the same for every message of the channel is written once, when the array is
    allocated.
    """

    def __init__(self, topic: str, channel_id: int, dtype: np.dtype, period_ns: int) -> None:
        self.topic = topic
        self.channel_id = channel_id
        self.count = 0
        self.total = 0
        self._dtype = dtype
        self._period_ns = period_ns
        body = np.dtype((np.void, dtype.itemsize))
        fields: list[tuple[str, object]] = [(name, MESSAGE_HEAD[name]) for name in MESSAGE_HEAD.names or ()]
        self._record = np.dtype([*fields, ("cdr", "V4"), ("body", body)])
        self._log_dtype: np.dtype | None = None
        self._allocate(64)

    @property
    def record_size(self) -> int:
        """Size of one message record in bytes."""
        return self._record.itemsize

    def span(self, log: np.ndarray) -> tuple[int, int]:
        """The ticks of the first and the last message of `log`, which is not empty."""
        return int(log["tick"][0]), int(log["tick"][-1])

    def sizes(self) -> np.ndarray:
        """Size of each waiting record in bytes."""
        return np.full(self.count, self.record_size)

    def place(self, content: np.ndarray, starts: np.ndarray) -> None:
        """Copies the waiting records to `starts` (n, bytes) of `content` (uint8)."""
        windows(content, self.record_size)[starts] = self.records()

    def append(self, log: np.ndarray) -> None:
        """Copies the messages of `log`, an array of (tick, data).

        ValueError when its dtype is not that of this channel.
        """
        if log.dtype is not self._log_dtype:
            self._adopt(log.dtype)
        begin, end = self.count, self.count + log.size
        if end > self.ticks.size:
            self._grow(end)
        raw = log.view(self._raw)
        self.ticks[begin:end] = raw["tick"]
        self._body[begin:end] = raw["data"]
        self.count = end

    def records(self) -> np.ndarray:
        """The waiting messages as opaque records, complete with sequence and times; valid until `clear`."""
        waiting = self._records[: self.count]
        waiting["sequence"] = np.arange(self.total, self.total + self.count)
        waiting["log_time"] = self.ticks[: self.count] * self._period_ns
        waiting["publish_time"] = waiting["log_time"]
        return waiting.view(np.dtype((np.void, self.record_size)))

    def clear(self) -> None:
        """The waiting messages are written: sequence goes on behind them."""
        self.total += self.count
        self.count = 0

    def drop(self) -> None:
        """The waiting messages are not written."""
        self.count = 0

    def _adopt(self, dtype: np.dtype) -> None:
        fields: Mapping[str, Any] = dtype.fields or {}
        if dtype.names != ("tick", "data") or fields["tick"][0] != "<i8" or fields["data"][0] != self._dtype:
            raise ValueError(
                f"{self.topic}: a log of dtype {dtype} does not fit [('tick', '<i8'), ('data', {self._dtype})]"
            )
        # Opaque data is copied as bytes: numpy copies nested records field by field, many times slower.
        body = np.dtype((np.void, self._dtype.itemsize))
        offsets = [fields["tick"][1], fields["data"][1]]
        self._raw = np.dtype(
            {"names": ["tick", "data"], "formats": ["<i8", body], "offsets": offsets, "itemsize": dtype.itemsize}
        )
        self._log_dtype = dtype

    def _grow(self, needed: int) -> None:
        ticks, body = self.ticks[: self.count], self._body[: self.count]
        self._allocate(max(needed, 2 * self.ticks.size))
        self.ticks[: self.count] = ticks
        self._body[: self.count] = body

    def _allocate(self, capacity: int) -> None:
        self.ticks = np.empty(capacity, np.int64)
        self._records = np.empty(capacity, self._record)
        self._records["opcode"] = Opcode.MESSAGE
        self._records["length"] = self.record_size - MESSAGE_HEAD.itemsize + MESSAGE_FIELDS_SIZE
        self._records["channel"] = self.channel_id
        self._records["cdr"] = np.void(HEADER)
        self._body = self._records["body"]


class OpaqueQueue:
    """Message records of one channel that differ in size."""

    def __init__(self, topic: str, channel_id: int, period_ns: int) -> None:
        self.topic = topic
        self.channel_id = channel_id
        self.total = 0
        self._period_ns = period_ns
        self._ticks: list[int] = []
        self._data: list[bytes] = []

    @property
    def count(self) -> int:
        """How many messages wait."""
        return len(self._ticks)

    @property
    def ticks(self) -> np.ndarray:
        """Their ticks."""
        return np.array(self._ticks, np.int64)

    def span(self, log: Sequence[tuple[int, bytes]]) -> tuple[int, int]:
        """The ticks of the first and the last message of `log`, which is not empty."""
        return log[0][0], log[-1][0]

    def append(self, log: Sequence[tuple[int, bytes]]) -> None:
        """Adds messages, pairs of tick and data."""
        for tick, data in log:
            self._ticks.append(tick)
            self._data.append(data)

    def sizes(self) -> np.ndarray:
        """Size of each waiting record in bytes."""
        return np.array([MESSAGE_HEAD.itemsize + len(data) for data in self._data], np.int64)

    def place(self, content: np.ndarray, starts: np.ndarray) -> None:
        """Copies the waiting records to `starts` (n, bytes) of `content` (uint8)."""
        for index, start in enumerate(starts.tolist()):
            time = self._ticks[index] * self._period_ns
            fields = struct.pack("<HIQQ", self.channel_id, self.total + index, time, time)
            item = record(Opcode.MESSAGE, fields + self._data[index])
            content[start : start + len(item)] = np.frombuffer(item, np.uint8)

    def clear(self) -> None:
        """The waiting messages are written: sequence goes on behind them."""
        self.total += self.count
        self.drop()

    def drop(self) -> None:
        """The waiting messages are not written."""
        self._ticks.clear()
        self._data.clear()
