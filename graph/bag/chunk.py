"""The content of a chunk: where its messages, schemas and channels are."""

import zlib
from typing import NamedTuple

import numpy as np
import zstandard

from graph.bag.records import MESSAGE_FIELDS_SIZE, MESSAGE_HEAD, RECORD_HEAD, ChunkHead, Cursor, Opcode, gather

LARGEST_CHUNK = 1 << 30
"""Bytes of uncompressed content that are believed: beyond it, a size is damage and not worth the memory."""


class Content(NamedTuple):
    """Uncompressed records of a chunk.

    `offsets` (n, int64) and heads (n, MESSAGE_HEAD) of its messages, the other records as bytes.
    """

    data: bytes
    offsets: np.ndarray
    heads: np.ndarray
    others: list[bytes]


def decode(head: ChunkHead, compressed: memoryview) -> bytes:
    """The uncompressed content of a chunk.

    Raises ValueError when size, CRC or compression are not what they say they are.
    """
    if head.compression not in ("", "zstd"):
        raise ValueError(f"compression '{head.compression}' is not supported, only zstd and none")
    data = bytes(compressed)
    if head.compression == "zstd":
        try:
            size = zstandard.frame_content_size(data)
            if size > LARGEST_CHUNK or head.uncompressed_size > LARGEST_CHUNK:
                raise ValueError("its size is not plausible")
            # A frame of unknown size is decompressed into the size that the chunk states.
            data = zstandard.ZstdDecompressor().decompress(data, max_output_size=head.uncompressed_size)
        except zstandard.ZstdError as error:
            raise ValueError(f"decompression failed ({error})") from None
    if len(data) != head.uncompressed_size:
        raise ValueError(f"it holds {len(data)} bytes instead of {head.uncompressed_size}")
    if head.uncompressed_crc and zlib.crc32(data) != head.uncompressed_crc:
        raise ValueError("its CRC does not match")
    return data


def head_of(body: Cursor) -> ChunkHead:
    return ChunkHead(
        start_time=body.unsigned(8),
        end_time=body.unsigned(8),
        uncompressed_size=body.unsigned(8),
        uncompressed_crc=body.unsigned(4),
        compression=body.string(),
    )


def split(data: bytes) -> Content:
    """Finds the records in `data`.

    Raises ValueError when one runs past the end or is too short to be what it claims.
    """
    offsets = []
    others = []
    position, end = 0, len(data)
    unpack = RECORD_HEAD.unpack_from
    while position + RECORD_HEAD.size <= end:
        opcode, length = unpack(data, position)
        following = position + RECORD_HEAD.size + length
        if opcode == Opcode.MESSAGE and length >= MESSAGE_FIELDS_SIZE:
            offsets.append(position)
        elif opcode == Opcode.MESSAGE:
            raise ValueError(f"it has a message of {length} bytes, too short for its fields")
        elif following <= end:
            others.append(data[position:following])
        position = following
    if position != end:
        raise ValueError("its last record runs past its end")
    places = np.array(offsets, np.int64)
    heads = gather(np.frombuffer(data, np.uint8), places, MESSAGE_HEAD.itemsize).view(MESSAGE_HEAD)
    return Content(data, places, heads, others)
