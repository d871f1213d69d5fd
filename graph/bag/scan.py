"""Reads an MCAP file from its first byte to its last, or to the first damage.

What the reader and the recovery have in common.
"""

import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from graph.bag import chunk
from graph.bag.records import MAGIC, RECORD_HEAD, Attachment, ChunkHead, Cursor, Opcode
from graph.errors import InputError, why


class Schema(NamedTuple):
    """A message definition: name such as `holeshot_msgs/msg/ImuSample`, encoding such as `ros2msg`, the bytes."""

    name: str
    encoding: str
    data: bytes

    @property
    def text(self) -> str:
        """The definition, of an encoding that is text."""
        return self.data.decode(errors="replace")


class TopicChannel(NamedTuple):
    """A channel record: topic, schema id (0: none), message encoding."""

    topic: str
    schema_id: int
    encoding: str


class Metadata(NamedTuple):
    name: str
    entries: dict[str, str]
    record: bytes


class Chunk(NamedTuple):
    """A chunk as it is in the file (head, compressed bytes) and its content."""

    head: ChunkHead
    compressed: bytes
    content: chunk.Content


@dataclass
class Scan:
    """What a file holds up to its end or up to the first damage.

    `parts` are metadata, attachments and chunks in file order; messages outside a chunk count as an uncompressed chunk
    of their own. `damage` says what is wrong and where, `None` for a complete and intact file; `cut_off`: it is that
    the file ends too early.
    """

    header: bytes = b""
    library: str = ""
    schemas: dict[int, Schema] = field(default_factory=dict)
    channels: dict[int, TopicChannel] = field(default_factory=dict)
    schema_records: dict[int, bytes] = field(default_factory=dict)
    channel_records: dict[int, bytes] = field(default_factory=dict)
    parts: list[Metadata | Attachment | Chunk] = field(default_factory=list)
    counts: dict[int, int] = field(default_factory=dict)
    damage: str | None = None
    cut_off: bool = False


_OPCODES = frozenset(Opcode)
_LOOSE_LIMIT = 64 * 1024


class _CutOffError(ValueError):
    pass


def scan_file(path: Path) -> Scan:
    """Reads the file.

    Raises InputError when there is none, or when it is not an MCAP file; damage further on is in the result.
    """
    try:
        if not path.is_file() and path.exists() and not path.is_dir():
            raise InputError(f"{path}: is no regular file, so no bag")
        data = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"{path}: no such bag") from None
    except IsADirectoryError:
        raise InputError(f"{path}: is a folder, not a bag (an .mcap file)") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {why(error)}") from None
    if not data:
        raise InputError(f"{path}: is empty, not an MCAP file")
    if data[: len(MAGIC)] != MAGIC:
        raise InputError(f"{path}: is not an MCAP file")
    return _Scanner(data).scan()


class _Scanner:
    def __init__(self, data: bytes) -> None:
        self._data = memoryview(data)
        self._found = Scan()
        self._position = len(MAGIC)
        self._summary_start = 0
        self._loose = bytearray()

    def scan(self) -> Scan:
        try:
            while self._next():
                pass
        except _CutOffError as error:
            self._found.damage, self._found.cut_off = str(error), True
        except ValueError as error:
            self._found.damage = f"{self._name()} at byte {self._position} is damaged: {error}"
        return self._found

    def _name(self) -> str:
        opcode = self._data[self._position]
        return f"{Opcode(opcode).name.lower().replace('_', ' ')} record" if opcode in _OPCODES else "record"

    def _next(self) -> bool:
        """Reads the record at the current position; False after the end of the file."""
        data, begin = self._data, self._position
        if begin + RECORD_HEAD.size > len(data):
            self._flush_loose()
            raise _CutOffError(f"is cut off at byte {len(data)}")
        opcode, length = RECORD_HEAD.unpack_from(data, begin)
        end = begin + RECORD_HEAD.size + length
        if opcode == 0:
            raise ValueError("no record has opcode 0")
        if not self._found.header and opcode != Opcode.HEADER:
            raise ValueError("it stands where the header should be")
        if end > len(data):
            self._flush_loose()
            raise _CutOffError(f"is cut off at byte {len(data)}, within the {self._name()} that starts at byte {begin}")
        record = data[begin:end]
        loose = not self._summary_start and opcode in (Opcode.SCHEMA, Opcode.CHANNEL, Opcode.MESSAGE)
        if loose:
            self._loose += record
        if not loose or len(self._loose) > _LOOSE_LIMIT:
            self._flush_loose()
        if not loose:
            self._read(Opcode(opcode) if opcode in _OPCODES else None, record)
        self._position = end
        return opcode != Opcode.FOOTER

    def _read(self, opcode: Opcode | None, record: memoryview) -> None:
        body = Cursor(record[RECORD_HEAD.size :])
        if opcode is Opcode.HEADER:
            body.string()
            self._found.library = body.string()
            self._found.header = bytes(record)
        elif opcode in (Opcode.SCHEMA, Opcode.CHANNEL):
            self._declare(bytes(record))
        elif opcode is Opcode.METADATA:
            self._found.parts.append(Metadata(body.string(), body.string_map(), bytes(record)))
        elif opcode is Opcode.ATTACHMENT:
            self._attachment(record, body)
        elif opcode is Opcode.CHUNK:
            head = chunk.head_of(body)
            compressed = body.take(body.unsigned(8))
            self._chunk(head, compressed, chunk.decode(head, compressed))
        elif opcode is Opcode.DATA_END:
            crc = body.unsigned(4)
            if crc and crc != zlib.crc32(self._data[: self._position]):
                raise ValueError("the CRC of the data section does not match")
            self._summary_start = self._position + len(record)
        elif opcode is Opcode.STATISTICS:
            self._statistics(body)
        elif opcode is Opcode.FOOTER:
            self._footer(record, body)

    def _attachment(self, record: memoryview, body: Cursor) -> None:
        log_time, create_time = body.unsigned(8), body.unsigned(8)
        item = Attachment(body.string(), body.string(), bytes(body.take(body.unsigned(8))), log_time, create_time)
        end = RECORD_HEAD.size + body.position
        crc = body.unsigned(4)
        if crc and crc != zlib.crc32(record[RECORD_HEAD.size : end]):
            raise ValueError("its CRC does not match")
        self._found.parts.append(item)

    def _flush_loose(self) -> None:
        """Makes a chunk of the schemas, channels and messages that stand outside of one."""
        data = bytes(self._loose)
        self._loose.clear()
        if data:
            head = ChunkHead(0, 0, len(data), 0, "")
            self._chunk(head, memoryview(data), data)

    def _chunk(self, head: ChunkHead, compressed: memoryview, data: bytes) -> None:
        content = chunk.split(data)
        for record in content.others:
            if record[0] in (Opcode.SCHEMA, Opcode.CHANNEL):
                self._declare(record)
        channels, counts = np.unique(content.heads["channel"], return_counts=True)
        for channel, count in zip(channels.tolist(), counts.tolist(), strict=True):
            if channel not in self._found.channels:
                raise ValueError(f"it has a message of channel {channel}, which is not declared")
            self._found.counts[channel] = self._found.counts.get(channel, 0) + count
        self._found.parts.append(Chunk(head, bytes(compressed), content))

    def _declare(self, record: bytes) -> None:
        """Takes a schema or channel record; repetitions (the summary has them all) are skipped."""
        body = Cursor(memoryview(record)[RECORD_HEAD.size :])
        identifier = body.unsigned(2)
        found = self._found
        if record[0] == Opcode.SCHEMA and identifier not in found.schemas:
            name, encoding = body.string(), body.string()
            found.schemas[identifier] = Schema(name, encoding, bytes(body.take(body.unsigned(4))))
            found.schema_records[identifier] = record
        elif record[0] == Opcode.CHANNEL and identifier not in found.channels:
            schema_id = body.unsigned(2)
            if schema_id and schema_id not in found.schemas:
                raise ValueError(f"channel {identifier} has schema {schema_id}, which is not declared")
            found.channels[identifier] = TopicChannel(body.string(), schema_id, body.string())
            found.channel_records[identifier] = record

    def _statistics(self, body: Cursor) -> None:
        stated = body.unsigned(8)
        counted = sum(self._found.counts.values())
        if stated != counted:
            raise ValueError(f"it counts {stated} messages, the bag has {counted}")

    def _footer(self, record: memoryview, body: Cursor) -> None:
        if not self._summary_start:
            raise ValueError("no data end record stands before it")
        start = body.unsigned(8)
        body.unsigned(8)
        crc = body.unsigned(4)
        end = self._position + len(record)
        if crc and crc != zlib.crc32(self._data[start or self._position : end - 4]):
            raise ValueError("the CRC of the summary does not match")
        closing = self._data[end:]
        if len(closing) < len(MAGIC):
            raise _CutOffError(f"is cut off at byte {len(self._data)}, within the closing bytes")
        if closing != MAGIC:
            raise ValueError("it is not followed by the closing bytes of an MCAP file and nothing else")
