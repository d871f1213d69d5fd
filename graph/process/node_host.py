"""A process that steps one node."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from typing import Any

from graph.memory import Log, NodeMemory, capacity, entry_arrays
from graph.process.edges import InEdge, OutEdge
from graph.process.packets import NO_STOP, Order
from graph.process.peer import Peer
from graph.process.plan import COMPUTING, Edge
from graph.wiring import SECOND, Topic
from msgs.cdr import HEADER


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
            self._publisher.put(HEADER + slot["data"].tobytes())
            self._sent += 1


class NodeHost:
    """Steps one node in lockstep with the others."""

    def __init__(
        self,
        peer: Peer,
        entry: Callable[..., bool],
        watched: Collection[str],
        on_watched: Callable[[str, bytes], None],
    ) -> None:
        self.peer = peer
        plan = peer.plan
        self._graph = plan.session.graph
        self._instance = self._graph.instance(peer.name)
        self._entry = entry
        self._published = [t for t in self._graph.topics if t.publisher is self._instance]
        heard = set(self._instance.inputs.values())
        topics = [*self._published, *(t for t in self._graph.topics if t.name in heard)]
        self.logs = {t.name: Log(t.message, capacity(t, self._graph, plan.capacity_window)) for t in topics}
        # A delayed edge of a node to itself reads the log it writes, as in one process.
        self._memory = NodeMemory(self._instance, self._graph.period_ns)
        self._arrays = entry_arrays(self._instance, self._memory, self.logs)
        self._in_edges = [self._in_edge(e) for e in plan.edges if e.consumer == peer.name != e.producer]
        self._out_edges = [self._out_edge(e) for e in plan.edges if e.producer == peer.name != e.consumer]
        self._public = [self._public_topic(t) for t in self._published]
        self._watched = [(t.name, self.logs[t.name]) for t in self._published if t.name in watched]
        self._on_watched = on_watched

    def _logs_of(self, edge: Edge) -> list[Log]:
        return [self.logs[t.name] for t in edge.topics]

    def _key(self, edge: Edge) -> str:
        key = self.peer.keys.edge(edge.producer, edge.consumer)
        return key + "/delayed" if edge.delay else key

    def _in_edge(self, edge: Edge) -> InEdge:
        channel = self.peer.channel(self._key(edge), self.peer.plan.capacity_window)
        return InEdge(edge.producer, channel, self._logs_of(edge), edge.delay, self.peer.tally(edge))

    def _out_edge(self, edge: Edge) -> OutEdge:
        consumer = None if self.peer.plan.batched(edge) else self._graph.instance(edge.consumer)
        put = self.peer.publisher(self._key(edge))
        return OutEdge(put, self._logs_of(edge), consumer, edge.delay, self._graph.period_ns)

    def _public_topic(self, topic: Topic) -> PublicTopic:
        import zenoh

        # DROP: whoever listens from outside may miss messages, but never holds the run up.
        publisher = self.peer.session.declare_publisher(
            self.peer.keys.topic(topic.name), congestion_control=zenoh.CongestionControl.DROP
        )
        return PublicTopic(publisher, self.logs[topic.name])

    def run(self) -> dict[str, int]:
        """Step until the clock ends the run; returns how many messages of each topic were delivered before its end."""
        k = 0
        while True:
            order, end = self.peer.hear_clock()
            if order in (Order.COMMIT, Order.END):
                self._show(end)
            if order is Order.END:
                return {t.name: self.logs[t.name].delivered_before(end) for t in self._published}
            if order is Order.TELL:
                self._told(end)
            elif order is Order.GRANT:
                k = self._window(k, end)

    def _told(self, tick: int) -> None:
        told = json.loads(self.peer.told)
        live = self._instance.setup.live
        if told["node"] == self.peer.name and live is not None:
            live.apply(self._memory.P[0], self._memory.S[0], tick * self._graph.period_ns, told["rows"])

    def _window(self, k: int, end: int) -> int:
        """Step k and what follows before tick ``end``; returns the next step."""
        peer, period, rate = self.peer, self._graph.period_ns, self._instance.setup.rate_hz
        ticks, waiting, index = peer.board.ticks, peer.board.waiting, peer.index
        per_tick, stop = rate * period, NO_STOP
        tick = -(-k * SECOND // per_tick)
        while tick < end:
            for edge in self._in_edges:
                while not edge.ready(tick):
                    waiting[index] = peer.plan.index[edge.producer]
                    edge.receive()
            waiting[index] = COMPUTING
            ticks[index] = tick
            if self._entry(tick, k * SECOND // rate, *self._arrays) and stop == NO_STOP:
                stop = tick
            k += 1
            tick = -(-k * SECOND // per_tick)
            for out in self._out_edges:
                out.advance(tick - 1)
        for out in self._out_edges:
            if out.needed is None:
                out.send(end - 1)
        peer.report_done(end, stop)
        return k

    def _show(self, end: int) -> None:
        """Give outsiders and the launcher what is final: the same that the bag holds."""
        for public in self._public:
            public.publish(end)
        for name, log in self._watched:
            for slot in log.take(end):
                self._on_watched(name, slot["data"].tobytes())
