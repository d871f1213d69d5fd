"""A process that steps one node."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection

from graph.memory import Log, NodeMemory, capacity, entry_arrays
from graph.process.edges import InEdge, OutEdge
from graph.process.outlet import Outlet
from graph.process.packets import NO_STOP, ClockWord
from graph.process.peer import Peer
from graph.process.plan import COMPUTING, Edge
from graph.schedule import first_tick, time_of


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
        self.logs = {t.name: Log(t.message, capacity(t, self._graph, plan.capacity(peer.name))) for t in topics}
        # A delayed edge of a node to itself reads the log it writes, as in one process.
        self._memory = NodeMemory(self._instance, self._graph.period_ns)
        self._arrays = entry_arrays(self._instance, self._memory, self.logs)
        self._in_edges = [self._in_edge(e) for e in plan.edges if e.consumer == peer.name != e.producer]
        self._out_edges = [self._out_edge(e) for e in plan.edges if e.producer == peer.name != e.consumer]
        self._outlet = Outlet(peer, self._published, self.logs, watched, on_watched)

    def _logs_of(self, edge: Edge) -> list[Log]:
        return [self.logs[t.name] for t in edge.topics]

    def _key(self, edge: Edge) -> str:
        return self.peer.keys.edge(edge.producer, edge.consumer, edge.delay)

    def _in_edge(self, edge: Edge) -> InEdge:
        channel = self.peer.channel(self._key(edge))
        last = self.peer.plan.last_promise(edge.producer)
        return InEdge(edge.producer, channel, self._logs_of(edge), edge.delay, self.peer.tally(edge), last)

    def _out_edge(self, edge: Edge) -> OutEdge:
        consumer = None if self.peer.plan.batched(edge) else self._graph.instance(edge.consumer)
        put = self.peer.publisher(self._key(edge))
        return OutEdge(put, self._logs_of(edge), consumer, edge.delay, self._graph.period_ns)

    def run(self) -> dict[str, int]:
        """Step until the clock ends the run; returns how many messages of each topic were delivered before its end."""
        k = 0
        while True:
            word, end = self.peer.hear_clock()
            if word in (ClockWord.COMMIT, ClockWord.END):
                self._outlet.show(end)
            if word is ClockWord.END:
                return self._outlet.delivered(end)
            if word is ClockWord.TELL:
                self._told(end)
            elif word is ClockWord.GRANT:
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
        stop = NO_STOP
        tick = first_tick(k, rate, period)
        while tick < end:
            for edge in self._in_edges:
                while not edge.ready(tick):
                    waiting[index] = peer.plan.index[edge.producer]
                    edge.receive()
            waiting[index] = COMPUTING
            ticks[index] = tick
            if self._entry(tick, time_of(k, rate), *self._arrays) and stop == NO_STOP:
                stop = tick
            k += 1
            tick = first_tick(k, rate, period)
            for out in self._out_edges:
                out.advance(tick - 1)
        for out in self._out_edges:
            if out.needed is None:
                out.send(end - 1)
        peer.report_done(end, stop)
        return k
