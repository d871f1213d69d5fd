"""The process that stands in for a node which somebody else runs: it takes what the node publishes, and sees whether it
is there.

To the launcher it is the node: it reports what was published, and that the node left or never came.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from typing import Any

from graph.memory import Log, capacity
from graph.process.edges import InEdge
from graph.process.outlet import Outlet
from graph.process.packets import ClockWord
from graph.process.peer import Peer

GOODBYE_S = 1.0
"""How much sooner than this process a node may hear that the run is over."""


class StandIn:
    """Follows an external node."""

    def __init__(
        self,
        peer: Peer,
        watched: Collection[str],
        on_watched: Callable[[str, bytes], None],
        on_left: Callable[[], None],
    ) -> None:
        """``on_left`` is called, from another thread, when the node is gone before the run is over."""
        import zenoh

        self._peer = peer
        self._on_left = on_left
        self._over = False
        plan = peer.plan
        graph = plan.session.graph
        [edge] = [e for e in plan.edges if e.producer == e.consumer == peer.name]
        logs = {t.name: Log(t.message, capacity(t, graph, plan.capacity(peer.name))) for t in edge.topics}
        channel = peer.channel(peer.keys.edge(peer.name, peer.name))
        last = plan.last_promise(peer.name)
        self._edge = InEdge(peer.name, channel, list(logs.values()), 0, peer.tally(edge), last)
        self._outlet = Outlet(peer, edge.topics, logs, watched, on_watched)
        self._gone = zenoh.SampleKind.DELETE
        self._token = peer.session.liveliness().declare_subscriber(peer.keys.ready(peer.name), self._on_token)

    def _on_token(self, sample: Any) -> None:
        if sample.kind == self._gone:
            # One that has heard the end before this process leaves rightly.
            timer = threading.Timer(GOODBYE_S, self._check_left)
            timer.daemon = True
            timer.start()

    def _check_left(self) -> None:
        if not self._over:
            self._on_left()

    def run(self) -> dict[str, int]:
        """Follow until the run ends; returns how many messages of each topic were delivered before its end."""
        peer = self._peer
        while True:
            word, end = peer.hear_clock()
            if word not in (ClockWord.COMMIT, ClockWord.END):
                continue
            self._over = word is ClockWord.END
            while not self._edge.ready(end - 1):
                self._edge.receive()
                peer.board.ticks[peer.index] = self._edge.watermark + 1
            self._outlet.show(end)
            if self._over:
                return self._outlet.delivered(end)
