"""The bag reader: an MCAP file in, message arrays out, in bulk. Every CRC is checked."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np

from graph.bag.records import MESSAGE_FIELDS_SIZE, MESSAGE_HEAD, Attachment, gather
from graph.bag.scan import Chunk, Metadata, Scan, Schema, scan_file
from graph.errors import InputError
from msgs.cdr import HEADER


class Message(NamedTuple):
    """One message: `log_time` in ns, `sequence` within its channel, `data` with the 4-byte CDR header."""

    topic: str
    log_time: int
    sequence: int
    data: bytes


class Bag:
    """A complete and intact bag in memory.

    `topics`: in channel order; `counts`: messages per topic; `schemas`: per topic; `encodings`: of the messages per
    topic, such as `cdr`; `metadata`: entries per record name; `attachments`: data per name; `start_time`, `end_time`:
    lowest and highest log time in ns, 0 without messages; `library`: the writer's name.
    """

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Reads the whole file.

        Raises InputError when it is missing, not an MCAP file, cut off, or damaged: nothing can go wrong later.
        """
        path = Path(path)
        scan = scan_file(path)
        if scan.cut_off:
            raise InputError(f"{path}: {scan.damage}; `holeshot bag recover` makes a complete bag of what it holds")
        if scan.damage:
            raise InputError(f"{path}: {scan.damage}")
        return cls(path, scan)

    def __init__(self, path: Path, scan: Scan) -> None:
        self.path = path
        self.library = scan.library
        self.topics = tuple(dict.fromkeys(channel.topic for channel in scan.channels.values()))
        none = Schema("", "", b"")
        self.schemas = {channel.topic: scan.schemas.get(channel.schema_id, none) for channel in scan.channels.values()}
        self.encodings = {channel.topic: channel.encoding for channel in scan.channels.values()}
        self.counts = dict.fromkeys(self.topics, 0)
        for channel_id, count in scan.counts.items():
            self.counts[scan.channels[channel_id].topic] += count
        self.metadata = {part.name: part.entries for part in scan.parts if isinstance(part, Metadata)}
        self.attachments = {part.name: part.data for part in scan.parts if isinstance(part, Attachment)}
        contents = [part.content for part in scan.parts if isinstance(part, Chunk)]
        self._buffer = np.frombuffer(b"".join(content.data for content in contents), np.uint8)
        bases = np.cumsum([0] + [len(content.data) for content in contents])
        offsets = [content.offsets + base for content, base in zip(contents, bases, strict=False)]
        self._offsets = np.concatenate([np.empty(0, np.int64), *offsets])
        self._heads = np.concatenate([np.empty(0, MESSAGE_HEAD), *(content.heads for content in contents)])
        self._channels = scan.channels
        times = self._heads["log_time"]
        self.start_time, self.end_time = (int(times.min()), int(times.max())) if times.size else (0, 0)

    def heads(self, topic: str) -> np.ndarray:
        """Of all messages of a topic in file order, whatever they hold: (n,) of log_time, publish_time (ns), sequence.

        Raises InputError when the bag does not have the topic.
        """
        heads = self._heads[self._chosen(topic)]
        result = np.empty(heads.size, [("log_time", "<i8"), ("publish_time", "<i8"), ("sequence", "<u4")])
        for name in result.dtype.names or ():
            result[name] = heads[name]
        return result

    def _chosen(self, topic: str) -> np.ndarray:
        if topic not in self.counts:
            raise InputError(f"{self.path}: has no topic {topic}; it has {', '.join(self.topics) or 'none'}")
        ids = [number for number, channel in self._channels.items() if channel.topic == topic]
        return np.flatnonzero(np.isin(self._heads["channel"], ids))

    def channel(self, topic: str, dtype: np.dtype | None = None) -> np.ndarray:
        """All messages of a topic in file order.

        An array (n,) of [('log_time', '<i8'), ('sequence', '<u4'), ('data', dtype)], times in ns.
        `dtype` is that of the CDR body behind its 4-byte header, `None` for opaque bytes. Raises InputError when the
        bag does not have the topic, or when its messages are not little-endian CDR of that size.
        """
        chosen = self._chosen(topic)
        heads = self._heads[chosen]
        sizes = (np.unique(heads["length"]) - MESSAGE_FIELDS_SIZE).tolist()
        if dtype is None:
            dtype = np.dtype((np.void, max(sizes[0] - len(HEADER), 1) if sizes else 1))
        size = len(HEADER) + dtype.itemsize
        if sizes not in ([], [size]):
            found = ", ".join(map(str, sizes))
            raise InputError(f"{self.path}: messages of {topic} have {found} bytes, {size} are expected")
        encoded = np.dtype([("cdr", "V4"), ("body", (np.void, dtype.itemsize))])
        messages = gather(self._buffer, self._offsets[chosen] + MESSAGE_HEAD.itemsize, size).view(encoded)
        if (messages["cdr"] != np.void(HEADER)).any():
            raise InputError(f"{self.path}: messages of {topic} are not little-endian CDR")
        result = np.empty(chosen.size, [("log_time", "<i8"), ("sequence", "<u4"), ("data", (np.void, dtype.itemsize))])
        result["log_time"] = heads["log_time"]
        result["sequence"] = heads["sequence"]
        result["data"] = messages["body"]
        return result.view(np.dtype([("log_time", "<i8"), ("sequence", "<u4"), ("data", dtype)]))

    def messages(self) -> Iterator[Message]:
        """All messages in file order."""
        topics = {number: channel.topic for number, channel in self._channels.items()}
        data = self._buffer.data
        begins = self._offsets + MESSAGE_HEAD.itemsize
        ends = begins + self._heads["length"].astype(np.int64) - MESSAGE_FIELDS_SIZE
        columns = [self._heads[name].tolist() for name in ("channel", "log_time", "sequence")]
        for channel, log_time, sequence, begin, end in zip(*columns, begins.tolist(), ends.tolist(), strict=True):
            yield Message(topics[channel], log_time, sequence, bytes(data[begin:end]))
