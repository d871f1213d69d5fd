"""The derived topics of a recording, computed again from its messages, ready to be compared with what was recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from graph.bag import Bag
from graph.bag.column import Column
from graph.build import Session
from graph.derived import DerivedStream
from graph.memory import Array


def recorded_pictures(bag: Bag, session: Session, end: int) -> dict[str, Column]:
    """What the bag holds of each derived topic before tick ``end``; topics it does not have are left out."""
    names = {t.name for d in session.derived for t in d.topics if t.name in bag.counts}
    parts: dict[str, list[tuple[int, bytes]]] = {name: [] for name in names}
    for message in bag.messages() if names else ():
        if message.topic in names and message.log_time < end * session.graph.period_ns:
            parts[message.topic].append((message.log_time, message.data))
    return {name: _column(part) for name, part in parts.items()}


def computed_pictures(session: Session, logs: Mapping[str, Array], end: int) -> dict[str, Column]:
    """The same from all messages by topic, as (delivery tick, record)."""
    stream, period = DerivedStream(session.derived), session.graph.period_ns
    taken = stream.take(end, {name: log[: np.searchsorted(log["tick"], end)] for name, log in logs.items()})
    return {
        topic.name: _column([(tick * period, data) for tick, data in messages])
        for topic, messages in zip(stream.topics, taken, strict=True)
    }


def _column(messages: Sequence[tuple[int, bytes]]) -> Column:
    return Column.opaque(np.array([time for time, _ in messages], np.int64), (data for _, data in messages))
