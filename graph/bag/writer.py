"""The bag writer: message arrays in, an MCAP file out, in bulk.

Every runner records through this writer, so a bag's bytes depend only on its messages. They are those of the `mcap`
package's writer fed the same messages one by one.
"""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import zstandard

from graph.bag import records
from graph.bag.container import Container
from graph.bag.queue import ChannelQueue, OpaqueQueue

PROFILE = "ros2"
LIBRARY = "holeshot"
CHUNK_LIMIT = 64 * 1024
"""Largest uncompressed chunk in bytes: what a crash can lose beside the queue."""
QUEUE_LIMIT = 4096
"""Messages to collect before they are merged: below that, the cost of numpy calls dominates."""
ZSTD_LEVEL = 3

MEDIA_TYPES = {".json": "application/json", ".yaml": "application/yaml", ".txt": "text/plain"}
"""By suffix of an attachment's name. A fixed table: the system's own would make bags differ between machines."""

Counts = dict[str, int]
"""Messages per topic, in rank order, topics without messages included."""


@dataclass(frozen=True)
class Channel:
    """One topic of a bag.

    `dtype` is that of the CDR body behind its 4-byte header: an array's bytes of that dtype are the body, `itemsize`
    its size. `schema_text` is the ros2msg definition of `schema_name`, such as `holeshot_msgs/msg/ImuSample`.
    """

    topic: str
    schema_name: str
    schema_text: str
    dtype: np.dtype


@dataclass(frozen=True)
class OpaqueChannel:
    """One topic of a bag whose messages vary in size, such as protobuf: few and written one by one.

    `schema` is the definition of `schema_name` in `schema_encoding`, such as a protobuf FileDescriptorSet.
    """

    topic: str
    schema_name: str
    schema_encoding: str
    schema: bytes
    message_encoding: str


Log = Any
"""The messages of one channel: an array of (tick, data) of a `Channel`, pairs of them of an `OpaqueChannel`."""


class BagWriter:
    """Writes messages to a bag, ordered by (tick, rank, order in their channel).

    As a context manager it finishes the bag at the end of the block, and also when the block raises: the bag is then
    complete up to there.
    """

    def __init__(
        self,
        path: str | Path,
        channels: Sequence[Channel | OpaqueChannel],
        metadata: Mapping[str, Mapping[str, str]],
        attachments: Mapping[str, bytes],
        period_ns: int,
    ) -> None:
        """Creates the file, replacing one that is there.

        Metadata and attachments are written at once, in the order given: a bag that is cut off later still has them.
        `channels` in rank order, `period_ns` the length of a tick. Raises InputError when the file cannot be created,
        ValueError when a topic occurs twice or two channels declare one schema name with different texts.
        """
        texts: dict[str, tuple[str, bytes]] = {}
        for channel in channels:
            text = _schema_of(channel)
            if texts.setdefault(channel.schema_name, text) != text:
                raise ValueError(f"{channel.topic}: schema {channel.schema_name} has two different texts")
        topics = [channel.topic for channel in channels]
        if len(set(topics)) < len(topics):
            raise ValueError(f"a topic occurs twice in {topics}")
        schema_ids = {name: number for number, name in enumerate(texts, 1)}
        self._schemas = [records.schema(schema_ids[name], name, *text) for name, text in texts.items()]
        self._channels = [
            records.channel(number, schema_ids[channel.schema_name], channel.topic, _encoding_of(channel))
            for number, channel in enumerate(channels, 1)
        ]
        self._queues = [_queue_of(channel, number, period_ns) for number, channel in enumerate(channels, 1)]
        self._period_ns = period_ns
        # Closing a chunk once it exceeds this keeps it within the limit.
        fixed = [queue.record_size for queue in self._queues if isinstance(queue, ChannelQueue)]
        self._close_above = max(0, CHUNK_LIMIT - max(fixed, default=0))
        self._compressor = zstandard.ZstdCompressor(level=ZSTD_LEVEL)
        self._queued = 0
        self._last_tick = -1
        self._finished = False
        # The open chunk: its content and, per message, channel, log time and offset. The first chunk starts with
        # schemas and channels.
        self._content = np.frombuffer(b"".join(self._schemas + self._channels), np.uint8)
        self._message_channels = np.empty(0, np.uint16)
        self._message_times = np.empty(0, np.uint64)
        self._message_offsets = np.empty(0, np.int64)
        self._container = Container(Path(path), records.header(PROFILE, LIBRARY))
        for name, entries in metadata.items():
            self._container.add_metadata(name, records.metadata(name, entries))
        for name, data in attachments.items():
            media_type = MEDIA_TYPES.get(Path(name).suffix, "application/octet-stream")
            self._container.add_attachment(records.Attachment(name, media_type, data))

    def write(self, logs: Sequence[Log]) -> None:
        """Adds messages, which are copied: one array per channel of dtype [('tick', '<i8'), ('data', its dtype)], a
        sequence of (tick, data) for an opaque one.

        The array's slots may be padded. Ticks do not decrease within a channel, and each is above every tick of
        earlier calls; messages get log time tick * period. Raises ValueError when that does not hold, at the latest in
        `finish`, and InputError when the disk does not take the data.
        """
        last = self._last_tick
        for queue, log in zip(self._queues, logs, strict=True):
            if len(log):
                begin, end = queue.span(log)
                if begin <= self._last_tick:
                    raise ValueError(f"{queue.topic}: tick {begin} is not above {self._last_tick}, written before")
                queue.append(log)
                self._queued += len(log)
                last = max(last, end)
        self._last_tick = last
        if self._queued >= QUEUE_LIMIT:
            self._merge()

    def finish(self, closing: Mapping[str, Mapping[str, str]] | None = None) -> Counts:
        """Writes what is queued and the summary, closes the file and returns the number of messages per topic.

        `closing`: metadata that is known only now, written behind all messages. Called again, it only returns the
        counts.
        """
        if not self._finished:
            self._finished = True
            try:
                if not self._container.broken:
                    self._complete(closing or {})
            finally:
                self._container.close()
        return {queue.topic: queue.total for queue in self._queues}

    def sync(self) -> None:
        """Puts everything given so far into the file, so that it survives the writer's sudden end.

        Changes no byte of the finished bag. Raises InputError when the disk does not take the data.
        """
        self._merge()
        if self._message_channels.size:
            self._container.preview_chunk(self._content.data, self._message_times)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.finish()

    def _complete(self, closing: Mapping[str, Mapping[str, str]]) -> None:
        self._merge()
        if self._message_channels.size:
            self._close_chunk(self._content, self._message_channels, self._message_times, self._message_offsets)
        for name, entries in closing.items():
            self._container.add_metadata(name, records.metadata(name, entries))
        self._container.finish(self._schemas, self._channels)

    def _merge(self) -> None:
        """Appends all queued messages to the open chunk in (tick, rank) order and closes chunks as they fill."""
        queues = [queue for queue in self._queues if queue.count]
        if not queues:
            return
        self._check_order(queues)
        counts = [queue.count for queue in queues]
        ticks = np.concatenate([queue.ticks[: queue.count] for queue in queues])
        order = np.argsort(ticks, kind="stable")
        sizes = np.concatenate([queue.sizes() for queue in queues])[order]
        ends = self._content.size + np.cumsum(sizes)
        starts = ends - sizes
        content = np.empty(ends[-1], np.uint8)
        content[: self._content.size] = self._content
        destinations = np.empty_like(starts)
        destinations[order] = starts
        begin = 0
        for queue, count in zip(queues, counts, strict=True):
            queue.place(content, destinations[begin : begin + count])
            begin += count
            queue.clear()
        self._queued = 0
        channel_ids = np.repeat(np.array([queue.channel_id for queue in queues], np.uint16), counts)[order]
        times = ticks[order].astype(np.uint64) * np.uint64(self._period_ns)
        earlier = self._message_channels.size
        self._cut(
            content,
            np.concatenate([self._message_channels, channel_ids]),
            np.concatenate([self._message_times, times]),
            np.concatenate([self._message_offsets, starts]),
            np.concatenate([self._message_offsets[1:], [self._content.size] if earlier else [], ends]).astype(np.int64),
        )

    def _check_order(self, queues: Sequence[ChannelQueue | OpaqueQueue]) -> None:
        """Raises ValueError, and drops what is queued so that the bag can still be finished, when ticks decrease."""
        for queue in queues:
            ticks = queue.ticks[: queue.count]
            if (ticks[1:] < ticks[:-1]).any():
                for other in queues:
                    other.drop()
                self._queued = 0
                raise ValueError(f"{queue.topic}: ticks decrease")

    def _cut(
        self, content: np.ndarray, channels: np.ndarray, times: np.ndarray, starts: np.ndarray, ends: np.ndarray
    ) -> None:
        """Closes every full chunk of `content`; the rest is the open chunk.

        `starts`, `ends`: each message's bytes in `content`.
        """
        base = first = 0
        while True:
            last = int(np.searchsorted(ends, base + self._close_above, side="right"))
            if last >= ends.size:
                break
            if last > first and ends[last] > base + CHUNK_LIMIT:
                last -= 1  # a message of no fixed size: it starts the next chunk
            end, part = int(ends[last]), slice(first, last + 1)
            self._close_chunk(content[base:end], channels[part], times[part], starts[part] - base)
            base, first = end, last + 1
        self._content = content[base:].copy()
        self._message_channels = channels[first:].copy()
        self._message_times = times[first:].copy()
        self._message_offsets = starts[first:] - base

    def _close_chunk(self, content: np.ndarray, channels: np.ndarray, times: np.ndarray, offsets: np.ndarray) -> None:
        data = content.data
        compressed = self._compressor.compress(data)
        self._container.add_chunk("zstd", compressed, content.size, zlib.crc32(data), channels, times, offsets)


def _schema_of(channel: Channel | OpaqueChannel) -> tuple[str, bytes]:
    if isinstance(channel, OpaqueChannel):
        return channel.schema_encoding, channel.schema
    return "ros2msg", channel.schema_text.encode()


def _encoding_of(channel: Channel | OpaqueChannel) -> str:
    return channel.message_encoding if isinstance(channel, OpaqueChannel) else "cdr"


def _queue_of(channel: Channel | OpaqueChannel, number: int, period_ns: int) -> ChannelQueue | OpaqueQueue:
    if isinstance(channel, OpaqueChannel):
        return OpaqueQueue(channel.topic, number, period_ns)
    return ChannelQueue(channel.topic, number, channel.dtype, period_ns)
