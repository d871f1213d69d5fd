"""The process that holds the clock: it grants windows of simulated time and declares what is final."""

from __future__ import annotations

import json
import queue
from typing import Any, NamedTuple

from graph.control import Control, Rows
from graph.errors import InputError
from graph.process.edges import PacketError
from graph.process.packets import CLOCK, DONE, NO_STOP, ClockWord
from graph.process.peer import Peer
from graph.process.plan import COMPUTING, FIRST_COUNT, LATENCY_NS, PACKETS, Board, Plan
from graph.process.steering import payload_of, respond_to
from graph.requests import read_request, refusal
from graph.service import Clock


class Done(NamedTuple):
    """A node's report of a window."""

    name: str
    end: int
    stop: int


def traffic(plan: Plan, board: Board) -> list[dict[str, Any]]:
    """What has come over each edge so far: the tick its consumer is at, packets, the sum of their latencies (wall time
    from when one was sent to when it was taken) and the messages of each topic.
    """
    return [
        {
            "from": edge.producer,
            "to": edge.consumer,
            "tick": int(board.ticks[plan.index[edge.consumer]]),
            "packets": tally[PACKETS],
            "latency_ns": tally[LATENCY_NS],
            "messages": dict(zip([t.name for t in edge.topics], tally[FIRST_COUNT:], strict=True)),
        }
        for edge, tally in zip(plan.edges, board.tallies, strict=True)
    ]


class ClockHost:
    """Grants windows ahead of the slowest node, and ends the run at its length, at a verdict, or when told to."""

    def __init__(self, peer: Peer, clock: Clock) -> None:
        self.peer = peer
        session = peer.plan.session
        self._control = Control(session.graph, clock, session.ticks, self._tell)
        self._names = (*peer.plan.nodes, *peer.plan.sinks)
        self._stopping = {i.name for i in session.graph.instances if i.node.stops}
        self._mail: queue.SimpleQueue[Any] = queue.SimpleQueue()  # Done, None to end the run, or a query
        self._subscriber = peer.session.declare_subscriber(peer.keys.done_all, self._on_done)
        self._queryable = peer.session.declare_queryable(peer.keys.control, self._mail.put)
        self._edges = peer.session.declare_queryable(peer.keys.edges, self._on_edges_asked)
        self._put = peer.publisher(peer.keys.clock)

    @property
    def stopped(self) -> bool:
        """Whether somebody asked for the run to end."""
        return self._control.stopped

    def _on_done(self, sample: Any) -> None:
        name, payload = str(sample.key_expr).rpartition("/")[2], sample.payload.to_bytes()
        if name in self._names and len(payload) == DONE.size:  # others may speak on these keys, but have no part in it
            self._mail.put(Done(name, *DONE.unpack(payload)))

    def _on_edges_asked(self, query: Any) -> None:
        respond_to(query)({"edges": traffic(self.peer.plan, self.peer.board)})

    def interrupt(self) -> None:
        """End the run at what is done so far."""
        self._mail.put(None)

    def run(self) -> int:
        """Hold the clock until the end; returns the tick the run ended before."""
        end = self._hold()
        self._say(ClockWord.END, end)
        self._control.over(end)
        return end

    def _hold(self) -> int:
        plan, board, index, control = self.peer.plan, self.peer.board, self.peer.index, self._control
        ticks, window = plan.session.ticks, plan.window
        done = dict.fromkeys(self._names, 0)
        lead = {name: plan.lead(name) for name in self._names}
        granted = committed = 0
        stop = NO_STOP
        while True:
            room = min(done[name] + lead[name] for name in self._names)
            limit, timeout = control.limit(granted), None
            if granted < min(limit, room) and stop == NO_STOP:
                timeout = control.ahead(granted)
                if timeout <= 0.0:
                    granted = min(granted + window, limit)
                    self._say(ClockWord.GRANT, granted)
                    continue
            slowest = min(done, key=lambda name: done[name])
            board.waiting[index] = plan.index[slowest] if done[slowest] < granted else COMPUTING
            try:
                mail = self._mail.get(timeout=timeout)
            except queue.Empty:
                continue
            if isinstance(mail, Done):
                self._check(mail, done[mail.name], granted)
                done[mail.name] = mail.end
                if mail.stop != NO_STOP:
                    stop = mail.stop if stop == NO_STOP else min(stop, mail.stop)
            elif mail is not None:
                self._obey(mail, granted)
            if mail is None or control.stopped:
                return committed
            front = min(done[node] for node in plan.nodes)
            board.ticks[index] = front
            if stop != NO_STOP and front > stop:
                return stop + 1
            if front == ticks:
                return ticks
            if front > committed and stop == NO_STOP:
                committed = front
                self._say(ClockWord.COMMIT, committed)
            control.reached(min(done.values()))

    def _check(self, report: Done, before: int, granted: int) -> None:
        """Raises PacketError for a report that the protocol does not allow."""
        if not before < report.end <= granted:
            raise PacketError(
                report.name, f"it reports tick {report.end} done after {before}, while {granted} is granted"
            )
        if report.stop != NO_STOP and not (report.name in self._stopping and before <= report.stop < report.end):
            raise PacketError(report.name, f"it ends the run at tick {report.stop}, which it may not")

    def _obey(self, query: Any, granted: int) -> None:
        respond = respond_to(query)
        try:
            request = read_request(payload_of(query))
        except InputError as error:
            respond(refusal(str(error)))
            return
        self._control.obey(request, granted, respond)

    def _tell(self, node: str, tick: int, rows: Rows) -> None:
        self._put(CLOCK.pack(ClockWord.TELL, tick) + json.dumps({"node": node, "rows": rows}).encode())

    def _say(self, word: ClockWord, tick: int) -> None:
        self._put(CLOCK.pack(word, tick))
