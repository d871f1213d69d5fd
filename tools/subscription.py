"""Listening to topics of a running session from outside."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from graph.process.register import is_alive
from graph.process.transport import session

BACKLOG = 10_000
"""Messages that wait to be printed; the oldest are left out, so that a slow reader never holds up a run."""
POLL_S = 0.02


class Heard(NamedTuple):
    """A message and when it came, wall time in s."""

    topic: str
    at: float
    payload: bytes


class Subscription:
    """Hears topics of a run."""

    def __init__(self, run: Mapping[str, Any], heard: deque[Heard]) -> None:
        self._run = run
        self._heard = heard
        self.left_out = 0

    def wait(self, until: float | None = None) -> Iterator[Heard]:
        """Messages as they come, until the run is over or the time ``until`` (monotonic, s)."""
        while until is None or time.monotonic() < until:
            alive = is_alive(self._run["pid"])
            while self._heard:
                yield self._heard.popleft()
                if until is not None and time.monotonic() >= until:
                    return
            if not alive:
                return
            time.sleep(POLL_S)


@contextmanager
def listening(run: Mapping[str, Any], topics: Sequence[Mapping[str, Any]]) -> Iterator[Subscription]:
    """A subscription to ``topics`` within the block."""
    heard: deque[Heard] = deque(maxlen=BACKLOG)
    with session(run["zenoh"]) as opened:
        subscription = Subscription(run, heard)

        def hear(topic: str) -> Any:
            def on_sample(sample: Any) -> None:
                if len(heard) == BACKLOG:
                    subscription.left_out += 1
                heard.append(Heard(topic, time.monotonic(), sample.payload.to_bytes()))

            return on_sample

        kept = [opened.declare_subscriber(t["key"], hear(t["name"])) for t in topics]
        yield subscription
        kept.clear()
