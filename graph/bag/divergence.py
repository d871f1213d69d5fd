"""Where two recordings differ: the first differing message, and for each topic how often and how far.

Two channels are compared message by message: those of one delivery time are matched in order, the rest is missing or
extra. Bytes decide, so that -0.0 is not 0.0 and two equal NaN are the same; a tolerance is for people.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from msgs.layout import primitives

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Messages:
    """One channel: delivery times (n,) in ns, and the bytes (n, itemsize) of records of ``dtype``."""

    times: Array
    raw: Array
    dtype: np.dtype[Any]

    @classmethod
    def of(cls, times: Array, data: Array) -> Messages:
        """From records (n,) of a structured dtype, possibly strided."""
        dtype = data.dtype
        # Opaque, because numpy copies records field by field and would lose what lies between them.
        opaque = np.ascontiguousarray(data.view(np.dtype((np.void, dtype.itemsize))))
        return cls(np.asarray(times, np.int64), opaque.view(np.uint8).reshape(len(data), dtype.itemsize), dtype)

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


@dataclass(frozen=True)
class Difference:
    """One differing message: ``field`` is empty and one value None when it is missing on that side."""

    topic: str
    time_ns: int
    index: int  # of the message in its channel, on the left or else on the right
    field: str
    left: float | int | None
    right: float | int | None
    ulps: int | None  # units in the last place between two floats

    def json(self) -> dict[str, Any]:
        """As a JSON object; a value that is not finite as a text."""
        values = {side: _plain(getattr(self, side)) for side in ("left", "right")}
        return {
            "topic": self.topic,
            "time_ns": self.time_ns,
            "index": self.index,
            "field": self.field,
            **values,
            "ulps": self.ulps,
        }


@dataclass
class FieldSummary:
    """How often a field differs and how far at most; ``ulps`` for floats."""

    count: int
    largest: float
    ulps: int | None


@dataclass
class TopicSummary:
    """One topic: how many messages differ, are only on the left, only on the right."""

    topic: str
    left: int
    right: int
    differing: int = 0
    missing: int = 0
    extra: int = 0
    fields: dict[str, FieldSummary] = field(default_factory=dict)

    @property
    def identical(self) -> bool:
        """Whether nothing differs."""
        return not (self.differing or self.missing or self.extra)


@dataclass(frozen=True)
class Report:
    """The first difference in (time, topic) order, None when there is none, and a summary of each topic compared."""

    first: Difference | None
    topics: tuple[TopicSummary, ...]

    @property
    def identical(self) -> bool:
        """Whether nothing differs."""
        return self.first is None

    def json(self) -> dict[str, Any]:
        """As a JSON object."""
        topics = {
            t.topic: {
                "left": t.left,
                "right": t.right,
                "differing": t.differing,
                "missing": t.missing,
                "extra": t.extra,
                "fields": {
                    name: {"count": f.count, "largest": _plain(f.largest), "ulps": f.ulps}
                    for name, f in t.fields.items()
                },
            }
            for t in self.topics
        }
        return {"identical": self.identical, "first": self.first.json() if self.first else None, "topics": topics}


def compare(
    left: Mapping[str, Messages], right: Mapping[str, Messages], ignore: Collection[str] = (), tolerance: float = 0.0
) -> Report:
    """Compare channels by topic; a topic on one side alone is missing or extra as a whole.

    ``ignore`` names topics, fields (``header``, ``position.x``) and fields of one topic (``truth.energy``), each with
    what is below it; ``tolerance`` is the largest absolute distance of two floats that counts as none.
    """
    names = [name for name in dict.fromkeys([*left, *right]) if not _ignored(ignore, name, "")]
    firsts: list[tuple[int, int, Difference]] = []
    summaries = []
    for rank, name in enumerate(names):
        summary, first = _compare_topic(name, left.get(name), right.get(name), ignore, tolerance)
        summaries.append(summary)
        if first is not None:
            firsts.append((first.time_ns, rank, first))
    earliest = min(firsts, key=lambda item: item[:2])[2] if firsts else None
    return Report(earliest, tuple(summaries))


def _ignored(ignore: Collection[str], topic: str, path: str) -> bool:
    names = (topic,) if not path else (path, f"{topic}.{path}")
    return any(name == entry or name.startswith((f"{entry}.", f"{entry}[")) for entry in ignore for name in names)


def _compare_topic(
    topic: str, left: Messages | None, right: Messages | None, ignore: Collection[str], tolerance: float
) -> tuple[TopicSummary, Difference | None]:
    if left is None or right is None:
        return _one_sided(topic, left, right)
    summary = TopicSummary(topic, len(left.times), len(right.times))
    here, there = matched(left.times, right.times)
    lost = np.setdiff1d(np.arange(len(left.times)), here)
    added = np.setdiff1d(np.arange(len(right.times)), there)
    summary.missing, summary.extra = len(lost), len(added)
    firsts = []
    if len(lost):
        place = lost[np.argmin(left.times[lost])]
        firsts.append(Difference(topic, int(left.times[place]), int(place), "", 1, None, None))
    if len(added):
        place = added[np.argmin(right.times[added])]
        firsts.append(Difference(topic, int(right.times[place]), int(place), "", None, 1, None))
    if left.dtype != right.dtype:
        firsts += _retyped(topic, summary, left, here)
    else:
        firsts += _values(topic, summary, left, right, here, there, ignore, tolerance)
    return summary, min(firsts, key=lambda d: d.time_ns) if firsts else None


def _one_sided(topic: str, left: Messages | None, right: Messages | None) -> tuple[TopicSummary, Difference | None]:
    present = left or right
    assert present is not None
    count = len(present.times)
    summary = TopicSummary(topic, count if left else 0, count if right else 0)
    summary.missing, summary.extra = summary.left, summary.right
    if not count:
        return summary, None
    place = int(np.argmin(present.times))
    sides = (1, None) if left else (None, 1)
    return summary, Difference(topic, int(present.times[place]), place, "", sides[0], sides[1], None)


def matched(left: Array, right: Array) -> tuple[Array, Array]:
    """Indices of messages that belong together: the k-th of a time on the left and the k-th of it on the right."""
    if np.array_equal(left, right):
        places = np.arange(len(left))
        return places, places
    _, ids = np.unique(np.concatenate([left, right]), return_inverse=True)
    sides = [_occurrences(part) for part in (ids[: len(left)], ids[len(left) :])]
    width = max((int(k.max()) + 1 for k in sides if len(k)), default=1)
    keys = [part * width + k for part, k in zip((ids[: len(left)], ids[len(left) :]), sides)]
    _, here, there = np.intersect1d(keys[0], keys[1], assume_unique=True, return_indices=True)
    return here, there


def _occurrences(ids: Array) -> Array:
    """For each id, how many of the same stand before it."""
    order = np.argsort(ids, kind="stable")
    ordered = ids[order]
    starts = (
        np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]])) if len(ids) else np.empty(0, np.int64)
    )
    lengths = np.diff(np.append(starts, len(ids)))
    counts = np.empty(len(ids), np.int64)
    counts[order] = np.arange(len(ids)) - np.repeat(starts, lengths)
    return counts


def _retyped(topic: str, summary: TopicSummary, left: Messages, here: Array) -> list[Difference]:
    """Two types on one topic have no fields to compare."""
    summary.differing = len(here)
    if not len(here):
        return []
    return [Difference(topic, int(left.times[here[0]]), int(here[0]), "(message type)", None, None, None)]


def _values(
    topic: str,
    summary: TopicSummary,
    left: Messages,
    right: Messages,
    here: Array,
    there: Array,
    ignore: Collection[str],
    tolerance: float,
) -> list[Difference]:
    a, b = (
        Messages(left.times[here], left.raw[here], left.dtype),
        Messages(right.times[there], right.raw[there], right.dtype),
    )
    if np.array_equal(a.raw, b.raw):
        return []
    unequal = a.raw != b.raw
    differs = np.zeros(len(here), bool)
    first: tuple[int, int, Difference] | None = None
    for leaf in [*leaves(left.dtype), *_gaps(left.dtype)]:
        if _ignored(ignore, topic, leaf.path):
            continue
        rows = np.flatnonzero(unequal[:, leaf.offset : leaf.end].any(axis=1))
        if not len(rows):
            continue
        x, y = (side.leaf(leaf)[rows] for side in (a, b))
        apart, ulps = distances(x, y)
        if tolerance > 0.0 and leaf.dtype.kind == "f":
            far = ~((apart <= tolerance) | (np.isnan(x) & np.isnan(y)))
            rows, x, y, apart = rows[far], x[far], y[far], apart[far]
            ulps = None if ulps is None else ulps[far]
            if not len(rows):
                continue
        differs[rows] = True
        widest = None if ulps is None else int(ulps.max())
        summary.fields[leaf.path] = FieldSummary(len(rows), float(np.nanmax(apart, initial=0.0)), widest)
        if first is None or rows[0] < first[0] or (rows[0] == first[0] and leaf.offset < first[1]):
            between = None if ulps is None else int(ulps[0])
            place = int(rows[0])
            found = Difference(
                topic, int(a.times[place]), int(here[place]), leaf.path, x[0].item(), y[0].item(), between
            )
            first = (place, leaf.offset, found)
    summary.differing = int(differs.sum())
    return [] if first is None else [first[2]]


def _gaps(dtype: np.dtype[Any]) -> Iterator[Leaf]:
    """The alignment bytes between primitives, which a run leaves zero."""
    position, previous = 0, "the header"
    for leaf in leaves(dtype):
        for offset in range(position, leaf.offset):
            yield Leaf(f"(padding behind {previous})", offset, np.dtype("u1"))
        position, previous = leaf.end, leaf.path


def distances(x: Array, y: Array) -> tuple[Array, Array | None]:
    """Absolute distance (float64, NaN where it has none) and for floats the distance in ULP (uint64) of two columns.

    ULP: the number of steps from one value to the other through the representable ones, both zeros being one value, as
    in B. Dawson, "Comparing Floating Point Numbers", 2012.
    """
    with np.errstate(all="ignore"):
        if x.dtype.kind != "f":
            high, low = np.maximum(x, y).astype(object), np.minimum(x, y).astype(object)
            return np.array(high - low, np.float64), None
        apart = np.abs(x.astype(np.float64) - y.astype(np.float64))
        return apart, _steps(x, y)


def _steps(x: Array, y: Array) -> Array:
    unsigned = np.dtype(f"<u{x.dtype.itemsize}")
    sign = unsigned.type(1 << (8 * x.dtype.itemsize - 1))
    magnitudes = [v.view(unsigned) & ~sign for v in (x, y)]
    same_side = (x.view(unsigned) & sign) == (y.view(unsigned) & sign)
    high, low = np.maximum(*magnitudes), np.minimum(*magnitudes)
    return np.where(same_side, high - low, high + low).astype(np.uint64)


def _plain(value: float | int | None) -> float | int | str | None:
    return str(value) if isinstance(value, float) and not np.isfinite(value) else value
