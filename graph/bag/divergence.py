"""Where two recordings differ: the first differing message, and for each topic how often and how far.

Two channels are compared message by message: those of one delivery time are matched in order, the rest is missing or
extra. Bytes decide, so that -0.0 is not 0.0 and two equal NaN are the same; a tolerance is for people.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from graph.bag.column import Column, gaps, leaves
from graph.bag.divergence_report import Difference, FieldSummary, Report, TopicSummary
from graph.bag.ulps import distances

Array = np.ndarray[Any, Any]


def compare(
    left: Mapping[str, Column], right: Mapping[str, Column], ignore: Collection[str] = (), tolerance: float = 0.0
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
    topic: str, left: Column | None, right: Column | None, ignore: Collection[str], tolerance: float
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


def _one_sided(topic: str, left: Column | None, right: Column | None) -> tuple[TopicSummary, Difference | None]:
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


def _retyped(topic: str, summary: TopicSummary, left: Column, here: Array) -> list[Difference]:
    """Two types on one topic have no fields to compare."""
    summary.differing = len(here)
    if not len(here):
        return []
    return [Difference(topic, int(left.times[here[0]]), int(here[0]), "(message type)", None, None, None)]


def _values(
    topic: str,
    summary: TopicSummary,
    left: Column,
    right: Column,
    here: Array,
    there: Array,
    ignore: Collection[str],
    tolerance: float,
) -> list[Difference]:
    a, b = (
        Column(left.times[here], left.raw[here], left.dtype),
        Column(right.times[there], right.raw[there], right.dtype),
    )
    if np.array_equal(a.raw, b.raw):
        return []
    unequal = a.raw != b.raw
    differs = np.zeros(len(here), bool)
    first: tuple[int, int, Difference] | None = None
    for leaf in [*leaves(left.dtype), *gaps(left.dtype)]:
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
