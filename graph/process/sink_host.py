"""A process that runs one sink: it takes what is final, window by window."""

from __future__ import annotations

from graph.memory import Log, capacity
from graph.process.edges import InEdge
from graph.process.packets import Order
from graph.process.peer import Peer
from graph.service import Sink


class SinkHost:
    """Feeds a sink with everything the nodes publish, as the clock declares it final."""

    def __init__(self, peer: Peer, sink: Sink) -> None:
        self.peer = peer
        self.sink = sink
        plan = peer.plan
        graph = plan.session.graph
        self._logs = {t.name: Log(t.message, capacity(t, graph, plan.capacity_window)) for t in graph.topics}
        self._edges = [
            InEdge(
                e.producer,
                peer.channel(peer.keys.edge(e.producer, e.consumer), plan.capacity_window),
                [self._logs[t.name] for t in e.topics],
                0,
                peer.tally(e),
            )
            for e in plan.edges
            if e.consumer == peer.name
        ]

    def run(self) -> None:
        """Take windows until the clock ends the run."""
        while True:
            order, end = self.peer.hear_clock()
            if order in (Order.GRANT, Order.TELL):
                continue
            for edge in self._edges:
                while not edge.ready(end - 1):
                    self.peer.board.waiting[self.peer.index] = self.peer.plan.index[edge.producer]
                    edge.receive()
            self.sink.take(end, {name: log.take(end) for name, log in self._logs.items()})
            self.peer.board.ticks[self.peer.index] = end
            if order is Order.END:
                return
            self.peer.report_done(end)
