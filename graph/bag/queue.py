"""Messages of one channel that wait to be merged, already in the form of MCAP message records."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from graph.bag.records import CDR_HEADER, MESSAGE_FIELDS_SIZE, MESSAGE_HEAD, Opcode


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
        self._records["cdr"] = np.void(CDR_HEADER)
        self._body = self._records["body"]
