"""What a node has published, as far as it is final: for outsiders who subscribe, and for the launcher."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from graph.memory import Log
from graph.process.peer import Peer
from graph.wiring import Topic
from msgs.cdr import encode


class PublicTopic:
    """Every message of a topic, singly, for whoever outside the run subscribes."""

    def __init__(self, publisher: Any, log: Log) -> None:
        self._publisher = publisher
        self._log = log
        self._sent = 0

    def publish(self, end: int) -> None:
        """Publish what was delivered before tick ``end``, if somebody listens."""
        if not self._publisher.matching_status.matching:
            self._sent = int(self._log.count[0])
            return
        mask = len(self._log.ring) - 1
        while self._sent < self._log.count[0]:
            slot = self._log.ring[self._sent & mask]
            if slot["tick"] >= end:
                return
            self._publisher.put(encode(slot["data"]))
            self._sent += 1


class Outlet:
    """Gives out the same that the bag holds."""

    def __init__(
        self,
        peer: Peer,
        topics: Sequence[Topic],
        logs: Mapping[str, Log],
        watched: Collection[str],
        on_watched: Callable[[str, bytes], None],
    ) -> None:
        """``topics`` of one node and their ``logs``; messages of those ``watched`` go to the launcher."""
        import zenoh

        self._logs = {t.name: logs[t.name] for t in topics}
        self._watched = [(t.name, logs[t.name]) for t in topics if t.name in watched]
        self._on_watched = on_watched
        # DROP: whoever listens from outside may miss messages, but never holds the run up.
        drop = zenoh.CongestionControl.DROP
        self._public = [
            PublicTopic(peer.session.declare_publisher(peer.keys.topic(name), congestion_control=drop), log)
            for name, log in self._logs.items()
        ]

    def show(self, end: int) -> None:
        """Everything before tick ``end`` is final."""
        for public in self._public:
            public.publish(end)
        for name, log in self._watched:
            for slot in log.take(end):
                self._on_watched(name, slot["data"].tobytes())

    def delivered(self, end: int) -> dict[str, int]:
        """How many messages of each topic were delivered before tick ``end``."""
        return {name: log.delivered_before(end) for name, log in self._logs.items()}
