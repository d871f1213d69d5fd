"""MCAP records as bytes: encoding of every record a bag has, and a cursor that decodes their fields.

Source: the MCAP format specification, version 0 (https://mcap.dev/spec). All integers are little-endian; a record is
opcode (u8), length of its body (u64), body. Field orders where the specification leaves a choice are those of the
`mcap` package's writer.
"""

import struct
import zlib
from collections.abc import Mapping
from enum import IntEnum
from typing import NamedTuple

import numpy as np

MAGIC = b"\x89MCAP0\r\n"
MESSAGE_HEAD = np.dtype(
    [
        ("opcode", "u1"),
        ("length", "<u8"),
        ("channel", "<u2"),
        ("sequence", "<u4"),
        ("log_time", "<u8"),
        ("publish_time", "<u8"),
    ]
)
"""A message record in front of its data: 31 bytes, of which `length` counts the last 22 and the data."""

RECORD_HEAD = struct.Struct("<BQ")
MESSAGE_FIELDS_SIZE = MESSAGE_HEAD.itemsize - RECORD_HEAD.size


class Opcode(IntEnum):
    """What a record is."""

    HEADER = 0x01
    FOOTER = 0x02
    SCHEMA = 0x03
    CHANNEL = 0x04
    MESSAGE = 0x05
    CHUNK = 0x06
    MESSAGE_INDEX = 0x07
    CHUNK_INDEX = 0x08
    ATTACHMENT = 0x09
    ATTACHMENT_INDEX = 0x0A
    STATISTICS = 0x0B
    METADATA = 0x0C
    METADATA_INDEX = 0x0D
    SUMMARY_OFFSET = 0x0E
    DATA_END = 0x0F


class Attachment(NamedTuple):
    """A file carried in a bag. Times in ns, 0 where unknown."""

    name: str
    media_type: str
    data: bytes
    log_time: int = 0
    create_time: int = 0


class ChunkHead(NamedTuple):
    """A chunk record in front of its compressed content.

    Times in ns, sizes in bytes, CRC-32 of the uncompressed content (0: none).
    """

    start_time: int
    end_time: int
    uncompressed_size: int
    uncompressed_crc: int
    compression: str


def record(opcode: int, body: bytes) -> bytes:
    """A record: its opcode, the length of its body in bytes, the body."""
    return RECORD_HEAD.pack(opcode, len(body)) + body


def gap(size: int) -> bytes:
    """The first bytes of a record of that size which readers skip: opcodes from 0x80 on are for applications."""
    return RECORD_HEAD.pack(0x80, size - RECORD_HEAD.size)


def string(text: str) -> bytes:
    """A text: its length in bytes (u32), then UTF-8."""
    data = text.encode()
    return struct.pack("<I", len(data)) + data


def string_map(entries: Mapping[str, str]) -> bytes:
    """Pairs of texts behind the length of all of them in bytes (u32)."""
    data = b"".join(string(key) + string(value) for key, value in entries.items())
    return struct.pack("<I", len(data)) + data


def header(profile: str, library: str) -> bytes:
    """The first record of a file: what its messages keep to, and who wrote it."""
    return record(Opcode.HEADER, string(profile) + string(library))


def schema(identifier: int, name: str, encoding: str, data: bytes) -> bytes:
    """A message definition; identifiers begin at 1."""
    fields = struct.pack("<H", identifier) + string(name) + string(encoding)
    return record(Opcode.SCHEMA, fields + struct.pack("<I", len(data)) + data)


def channel(identifier: int, schema_id: int, topic: str, encoding: str) -> bytes:
    """A topic, its schema and the encoding of its messages."""
    fields = struct.pack("<HH", identifier, schema_id)
    return record(Opcode.CHANNEL, fields + string(topic) + string(encoding) + string_map({}))


def metadata(name: str, entries: Mapping[str, str]) -> bytes:
    """Named pairs of texts."""
    return record(Opcode.METADATA, string(name) + string_map(entries))


def attachment(item: Attachment) -> bytes:
    """A file, with the CRC-32 of all its fields."""
    body = struct.pack("<QQ", item.log_time, item.create_time) + string(item.name) + string(item.media_type)
    body += struct.pack("<Q", len(item.data)) + item.data
    return record(Opcode.ATTACHMENT, body + struct.pack("<I", zlib.crc32(body)))


def chunk(head: ChunkHead, compressed: bytes) -> bytes:
    """Records of messages, compressed as the head says."""
    body = struct.pack("<QQQI", head.start_time, head.end_time, head.uncompressed_size, head.uncompressed_crc)
    return record(Opcode.CHUNK, body + string(head.compression) + struct.pack("<Q", len(compressed)) + compressed)


def message_index(channel_id: int, entries: bytes) -> bytes:
    """`entries`: pairs of u64 log time (ns) and u64 offset in the uncompressed chunk."""
    return record(Opcode.MESSAGE_INDEX, struct.pack("<HI", channel_id, len(entries)) + entries)


def chunk_index(
    head: ChunkHead, offset: int, length: int, compressed_size: int, indexes: Mapping[int, int], indexes_length: int
) -> bytes:
    """`offset`, `length`: the chunk record in the file; `indexes`: channel id to file offset of its message index."""
    body = struct.pack("<QQQQI", head.start_time, head.end_time, offset, length, 10 * len(indexes))
    body += b"".join(struct.pack("<HQ", channel_id, position) for channel_id, position in indexes.items())
    body += struct.pack("<Q", indexes_length) + string(head.compression)
    return record(Opcode.CHUNK_INDEX, body + struct.pack("<QQ", compressed_size, head.uncompressed_size))


def attachment_index(item: Attachment, offset: int, length: int) -> bytes:
    """Where an attachment record lies in the file, bytes."""
    body = struct.pack("<QQQQQ", offset, length, item.log_time, item.create_time, len(item.data))
    return record(Opcode.ATTACHMENT_INDEX, body + string(item.name) + string(item.media_type))


def metadata_index(name: str, offset: int, length: int) -> bytes:
    """Where a metadata record lies in the file, bytes."""
    return record(Opcode.METADATA_INDEX, struct.pack("<QQ", offset, length) + string(name))


def statistics(
    schemas: int,
    channels: int,
    attachments: int,
    metadata_records: int,
    chunks: int,
    start_time: int,
    end_time: int,
    counts: Mapping[int, int],
) -> bytes:
    """How many records of each kind a file has, its first and last time (ns), and messages by channel id."""
    body = struct.pack("<QHIIII", sum(counts.values()), schemas, channels, attachments, metadata_records, chunks)
    body += struct.pack("<QQI", start_time, end_time, 10 * len(counts))
    return record(Opcode.STATISTICS, body + b"".join(struct.pack("<HQ", *item) for item in counts.items()))


def summary_offset(opcode: int, start: int, length: int) -> bytes:
    """Where the records of an opcode lie in the summary, bytes of the file."""
    return record(Opcode.SUMMARY_OFFSET, struct.pack("<BQQ", opcode, start, length))


def data_end(crc: int) -> bytes:
    """The end of the data section; the CRC-32 of all before it, 0 when it is not known."""
    return record(Opcode.DATA_END, struct.pack("<I", crc))


def footer(summary_start: int, summary_offset_start: int, summary: bytes) -> bytes:
    """The CRC covers the summary and the footer up to the CRC itself."""
    fields = RECORD_HEAD.pack(Opcode.FOOTER, 20) + struct.pack("<QQ", summary_start, summary_offset_start)
    return fields + struct.pack("<I", zlib.crc32(fields, zlib.crc32(summary)))


class Cursor:
    """Reads fields of a record body in order.

    Every method raises ValueError when the body ends before the field does.
    """

    def __init__(self, body: memoryview) -> None:
        self._body = body
        self.position = 0

    def take(self, size: int) -> memoryview:
        """The next ``size`` bytes."""
        end = self.position + size
        if end > len(self._body):
            raise ValueError("a field runs past the end of its record")
        part = self._body[self.position : end]
        self.position = end
        return part

    def unsigned(self, size: int) -> int:
        """An integer of ``size`` bytes."""
        return int.from_bytes(self.take(size), "little")

    def string(self) -> str:
        """A text. ValueError also when it is no UTF-8."""
        return str(self.take(self.unsigned(4)), "utf-8")

    def string_map(self) -> dict[str, str]:
        """Pairs of texts."""
        end = self.unsigned(4) + self.position
        entries = {}
        while self.position < end:
            key = self.string()
            entries[key] = self.string()
        return entries


def gather(buffer: np.ndarray, offsets: np.ndarray, size: int) -> np.ndarray:
    """Copies `size` bytes at each of `offsets` (n, int64) out of `buffer` (uint8).

    An array (n,) of opaque items of `size` bytes.
    """
    item = np.dtype((np.void, size))
    if not offsets.size:
        return np.empty(0, item)
    return windows(buffer, size)[offsets]


def windows(buffer: np.ndarray, size: int) -> np.ndarray:
    """A view of `buffer` (uint8, contiguous) whose item i is the `size` bytes from byte i on.

    Reads and writes at any offset in bulk.
    """
    return np.ndarray((buffer.size - size + 1,), np.dtype((np.void, size)), buffer, strides=(1,))
