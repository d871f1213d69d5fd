"""The MCAP file being written: records in place, and everything the summary at its end needs to know about them."""

import contextlib
import errno
import fcntl
import os
import stat
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from graph.bag import records
from graph.bag.records import Attachment, ChunkHead, Opcode
from graph.errors import InputError, why

SLOT = 128 * 1024
"""Bytes kept free for the next chunk with its indexes, and for a preview: more than either takes, as a rule."""


class Container:
    """Writes records in place, so that a file whose writer was killed holds all that was added before.

    A preview of the chunk that is still growing stands behind a record that readers skip, and the next one stands
    elsewhere before that record leads to it. Whatever overwrites the record comes with its first bytes last. So at any
    moment the file holds all that was added or previewed, and a writer may die amid a write.

    Raises InputError when the file cannot be created, and when a write fails (disk full): it is then `broken`, to be
    closed as it is.
    """

    def __init__(self, path: Path, header: bytes, *, exclusive: bool = False) -> None:
        """`header`: the header record. `exclusive` refuses a path that exists."""
        self._path = path
        self.broken = False
        try:
            # Unbuffered: what is added is in the file, and closing it has nothing left to write that could fail.
            flags = os.O_WRONLY | os.O_CREAT | (os.O_EXCL if exclusive else 0)
            self._file = open(os.open(path, flags, 0o666), "wb", buffering=0)  # noqa: SIM115 (closed by close)
        except OSError as error:
            raise InputError(f"{path}: {_reason(path, error)}") from None
        self._claim()
        self._offset = 0
        self._preview: tuple[int, int] | None = None  # where it begins and ends
        self._crc = 0
        self._start_time: int | None = None
        self._end_time = 0
        self._counts: dict[int, int] = {}
        self._chunk_indexes: list[bytes] = []
        self._attachment_indexes: list[bytes] = []
        self._metadata_indexes: list[bytes] = []
        try:
            self._emit(records.MAGIC + header)
        except InputError:
            self.close()
            if exclusive:
                path.unlink()  # nobody else knows of it
            raise

    def _claim(self) -> None:
        """Make the file this writer's alone, and only then empty it. A device has nothing to empty, and some file
        systems have no locks.
        """
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            raise InputError(f"{self._path}: another process is recording to it, name another path") from None
        except OSError:
            pass
        if stat.S_ISREG(os.fstat(self._file.fileno()).st_mode):
            self._file.truncate(0)

    def add_metadata(self, name: str, record: bytes) -> None:
        """Add the metadata record ``name``."""
        self._metadata_indexes.append(records.metadata_index(name, self._offset, len(record)))
        self._emit(record)

    def add_attachment(self, item: Attachment) -> None:
        """Add an attachment."""
        record = records.attachment(item)
        self._attachment_indexes.append(records.attachment_index(item, self._offset, len(record)))
        self._emit(record)

    def add_chunk(
        self,
        compression: str,
        compressed: bytes,
        content_size: int,
        content_crc: int,
        channels: np.ndarray,
        times: np.ndarray,
        offsets: np.ndarray,
    ) -> None:
        """Adds a chunk and its message indexes.

        `channels` (n, uint16), `times` (n, uint64, ns) and `offsets` (n, int64, bytes in the uncompressed content)
        describe its n messages in order. Indexes stand in the order in which the channels first appear in the chunk.
        """
        start_time, end_time = (int(times.min()), int(times.max())) if times.size else (0, 0)
        head = ChunkHead(start_time, end_time, content_size, content_crc, compression)
        chunk = records.chunk(head, compressed)
        ids, firsts, counts = np.unique(channels, return_index=True, return_counts=True)
        by_channel = np.argsort(channels, kind="stable")
        entries = np.empty((channels.size, 2), "<u8")
        entries[:, 0] = times[by_channel]
        entries[:, 1] = offsets[by_channel]
        bounds = [0, *np.cumsum(counts).tolist()]
        position = self._offset + len(chunk)
        positions: dict[int, int] = {}
        indexes = []
        for group in np.argsort(firsts).tolist():
            begin, end = bounds[group], bounds[group + 1]
            channel = int(ids[group])
            index = records.message_index(channel, entries[begin:end].tobytes())
            positions[channel] = position
            position += len(index)
            indexes.append(index)
            self._counts[channel] = self._counts.get(channel, 0) + end - begin
        indexes_length = position - self._offset - len(chunk)
        if times.size:
            self._start_time = start_time if self._start_time is None else min(self._start_time, start_time)
            self._end_time = max(self._end_time, end_time)
        self._chunk_indexes.append(
            records.chunk_index(head, self._offset, len(chunk), len(compressed), positions, indexes_length)
        )
        self._emit(b"".join([chunk, *indexes]))

    def preview_chunk(self, content: bytes | memoryview, times: np.ndarray) -> None:
        """Shows a chunk that is still growing, until something is added.

        It is not part of the finished bag; a bag whose writer was killed has its messages.
        """
        head = ChunkHead(int(times.min()), int(times.max()), len(content), zlib.crc32(content), "")
        record = records.chunk(head, bytes(content))
        begin = self._free_place(len(record))
        end = begin + len(record)
        self._write(record, begin)
        self._write(records.gap(begin - self._offset), self._offset)
        if self._preview is not None and self._preview[1] > end:
            self._cut_off(end)
        self._preview = begin, end

    def _free_place(self, size: int) -> int:
        """Where a preview of that size overwrites neither the present one nor what will be added next."""
        first = self._offset + SLOT
        if self._preview is None or first + size <= self._preview[0]:
            return first
        return max(first + SLOT, self._preview[1])

    def finish(self, schemas: Sequence[bytes], channels: Sequence[bytes]) -> None:
        """Ends the data section, writes the summary with these schema and channel records, and closes the file."""
        end = records.data_end(self._crc)
        start = self._offset + len(end)
        statistics = records.statistics(
            len(schemas),
            len(channels),
            len(self._attachment_indexes),
            len(self._metadata_indexes),
            len(self._chunk_indexes),
            self._start_time or 0,
            self._end_time,
            self._counts,
        )
        groups = (
            (Opcode.SCHEMA, b"".join(schemas)),
            (Opcode.CHANNEL, b"".join(channels)),
            (Opcode.STATISTICS, statistics),
            (Opcode.CHUNK_INDEX, b"".join(self._chunk_indexes)),
            (Opcode.ATTACHMENT_INDEX, b"".join(self._attachment_indexes)),
            (Opcode.METADATA_INDEX, b"".join(self._metadata_indexes)),
        )
        summary = b"".join(group for _, group in groups)
        offsets_start = start + len(summary)
        position = start
        for opcode, group in groups:
            summary += records.summary_offset(opcode, position, len(group))
            position += len(group)
        self._emit(end + summary + records.footer(start, offsets_start, summary) + records.MAGIC)
        self.close()

    def close(self) -> None:
        """Close the file as it is."""
        self._file.close()

    def _emit(self, data: bytes) -> None:
        head = 0 if self._preview is None else records.RECORD_HEAD.size  # what now leads to the preview
        self._write(data[head:], self._offset + head)
        self._write(data[:head], self._offset)
        self._crc = zlib.crc32(data, self._crc)
        self._offset += len(data)
        if self._preview is not None and self._preview[1] > self._offset:
            self._cut_off(self._offset)
        self._preview = None

    def _write(self, data: bytes, offset: int) -> None:
        rest = memoryview(data)
        with self._reported():
            while rest:
                written = os.pwrite(self._file.fileno(), rest, offset)
                rest, offset = rest[written:], offset + written

    def _cut_off(self, size: int) -> None:
        with self._reported():
            self._file.truncate(size)

    @contextlib.contextmanager
    def _reported(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self.broken = True
            raise InputError(f"{self._path}: the bag cannot be written: {why(error)}") from None


def _reason(path: Path, error: OSError) -> str:
    if error.errno == errno.ENOENT:
        return f"the folder {path.parent} does not exist, create it or name another path for the bag"
    if error.errno == errno.EEXIST:
        return "exists already and is not overwritten, name another path for the bag"
    if error.errno == errno.EISDIR:
        return "is a folder, name a file for the bag"
    if error.errno == errno.ENOTDIR:
        return f"{path.parent} is not a folder, name another path for the bag"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"no permission to write into {os.path.abspath(path.parent)}, name another path for the bag"
    return f"the bag cannot be created: {why(error)}"
