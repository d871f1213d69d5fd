"""The messages of one topic as one array of bytes, and the primitives it is made of."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from msgs.layout import primitives

Array = np.ndarray[Any, Any]
CONTENT = "(content)"
"""The only field of messages that have no fixed layout."""


@dataclass(frozen=True)
class Column:
    """One channel: delivery times (n,) in ns, and the bytes (n, itemsize) of records of ``dtype``."""

    times: Array
    raw: Array
    dtype: np.dtype[Any]

    @classmethod
    def of(cls, times: Array, data: Array) -> Column:
        """From records (n,) of a structured dtype, possibly strided."""
        dtype = data.dtype
        # Opaque, because numpy copies records field by field and would lose what lies between them.
        opaque = np.ascontiguousarray(data.view(np.dtype((np.void, dtype.itemsize))))
        return cls(np.asarray(times, np.int64), opaque.view(np.uint8).reshape(len(data), dtype.itemsize), dtype)

    @classmethod
    def opaque(cls, times: Array, contents: Iterable[bytes]) -> Column:
        """From messages of no fixed layout: what is compared is a digest of each as a whole."""
        digests = b"".join(hashlib.blake2b(content, digest_size=8).digest() for content in contents)
        return cls.of(times, np.frombuffer(digests, np.dtype([(CONTENT, "<u8")])))

    def leaf(self, leaf: Leaf) -> Array:
        """The values (n,) of one primitive."""
        return np.ascontiguousarray(self.raw[:, leaf.offset : leaf.end]).view(leaf.dtype).reshape(len(self.raw))


@dataclass(frozen=True)
class Leaf:
    """One primitive of a record."""

    path: str
    offset: int
    dtype: np.dtype[Any]

    @property
    def end(self) -> int:
        """The offset behind it."""
        return self.offset + self.dtype.itemsize


def leaves(dtype: np.dtype[Any]) -> Iterator[Leaf]:
    """Every primitive of ``dtype`` in wire order."""
    for path, offset, kind in primitives(dtype):
        # A bool of another value than 0 and 1 is a difference that must be seen.
        yield Leaf(path, offset, np.dtype("u1") if kind.kind == "b" else kind)


def gaps(dtype: np.dtype[Any]) -> Iterator[Leaf]:
    """The alignment bytes between primitives, which a run leaves zero."""
    position, previous = 0, "the header"
    for leaf in leaves(dtype):
        for offset in range(position, leaf.offset):
            yield Leaf(f"(padding behind {previous})", offset, np.dtype("u1"))
        position, previous = leaf.end, leaf.path
