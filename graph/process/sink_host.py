"""A process that runs one sink: it takes what is final, window by window."""

from __future__ import annotations

import math
import time

from graph.memory import Log, capacity
from graph.process.edges import InEdge
from graph.process.packets import ClockWord
from graph.process.peer import Peer
from graph.process.plan import COMPUTING
from graph.service import Sink

FINAL = (ClockWord.COMMIT, ClockWord.END)


class SinkHost:
    """Feeds a sink with everything the nodes publish, as the clock declares it final."""

    def __init__(self, peer: Peer, sink: Sink) -> None:
        self.peer = peer
        self.sink = sink
        plan = peer.plan
        graph = plan.session.graph
        self._logs = {t.name: Log(t.message, capacity(t, graph, plan.capacity(peer.name))) for t in graph.topics}
        self._edges = [
            InEdge(
                e.producer,
                peer.channel(peer.keys.edge(e.producer, e.consumer)),
                [self._logs[t.name] for t in e.topics],
                0,
                peer.tally(e),
                plan.last_promise(e.producer),
            )
            for e in plan.edges
            if e.consumer == peer.name
        ]
        self._next_take = -math.inf

    def run(self) -> None:
        """Take windows until the clock ends the run."""
        over = False
        while not over:
            end, over = self._final()
            for edge in self._edges:
                while not edge.ready(end - 1):
                    self.peer.board.waiting[self.peer.index] = self.peer.plan.index[edge.producer]
                    edge.receive()
            self.peer.board.waiting[self.peer.index] = COMPUTING
            self.sink.take(end, {name: log.take(end) for name, log in self._logs.items()})
            self.peer.board.ticks[self.peer.index] = end
            if not over:
                self.peer.report_done(end)

    def _final(self) -> tuple[int, bool]:
        """The tick before which everything is final, once that is more than was taken, and whether the run is over."""
        word, end = self.peer.hear_clock()
        while word not in FINAL:
            word, end = self.peer.hear_clock()
        if self.sink.PERIOD_S > 0.0:
            time.sleep(max(0.0, self._next_take - time.monotonic()))
            self._next_take = time.monotonic() + self.sink.PERIOD_S
            while word is not ClockWord.END and (heard := self.peer.heard_clock()) is not None:
                if heard[0] in FINAL:
                    word, end = heard
        return end, word is ClockWord.END
