"""The derived topics of a recording, computed again from its messages, ready to be compared with what was recorded."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence

import numpy as np

from graph.bag import Bag
from graph.bag.divergence import Messages
from graph.build import Session
from graph.derived import DerivedStream
from graph.memory import Array

DIGEST = np.dtype([("bytes", "<i8"), ("crc32", "<i8")])
"""What stands for a message of no fixed size."""


def recorded_pictures(bag: Bag, session: Session, end: int) -> dict[str, Messages]:
    """What the bag holds of each derived topic before tick ``end``; topics it does not have are left out."""
    names = {t.name for d in session.derived for t in d.topics if t.name in bag.counts}
    parts: dict[str, list[tuple[int, bytes]]] = {name: [] for name in names}
    for message in bag.messages() if names else ():
        if message.topic in names and message.log_time < end * session.graph.period_ns:
            parts[message.topic].append((message.log_time, message.data))
    return {name: _digests(part) for name, part in parts.items()}


def computed_pictures(session: Session, logs: Mapping[str, Array], end: int) -> dict[str, Messages]:
    """The same from all messages by topic, as (delivery tick, record)."""
    stream, period = DerivedStream(session.derived), session.graph.period_ns
    taken = stream.take(end, {name: log[: np.searchsorted(log["tick"], end)] for name, log in logs.items()})
    return {
        topic.name: _digests([(tick * period, data) for tick, data in messages])
        for topic, messages in zip(stream.topics, taken, strict=True)
    }


def _digests(messages: Sequence[tuple[int, bytes]]) -> Messages:
    digests = np.array([(len(data), zlib.crc32(data)) for _, data in messages], DIGEST)
    return Messages.of(np.array([time for time, _ in messages], np.int64), digests)
