"""The process that holds the clock: it grants windows of simulated time and declares what is final."""

from __future__ import annotations

import queue
from typing import Any

from graph.process.packets import CLOCK, DONE, NO_STOP, Order
from graph.process.peer import Peer
from graph.process.plan import COMPUTING, WINDOWS_IN_FLIGHT
from graph.service import Clock

INTERRUPT = ("", 0, 0)


class ClockHost:
    """Grants windows ahead of the slowest node, and ends the run at its length, at a verdict, or when told to."""

    def __init__(self, peer: Peer, clock: Clock) -> None:
        self.peer = peer
        self.clock = clock
        self._reports: queue.SimpleQueue[tuple[str, int, int]] = queue.SimpleQueue()
        self._subscriber = peer.session.declare_subscriber(peer.keys.done_all, self._on_done)
        self._put = peer.publisher(peer.keys.clock)

    def _on_done(self, sample: Any) -> None:
        end, stop = DONE.unpack(sample.payload.to_bytes())
        self._reports.put((str(sample.key_expr).rpartition("/")[2], end, stop))

    def interrupt(self) -> None:
        """End the run at what is done so far."""
        self._reports.put(INTERRUPT)

    def run(self) -> int:
        """Hold the clock until the end; returns the tick the run ended before."""
        plan, board, index = self.peer.plan, self.peer.board, self.peer.index
        ticks, window = plan.session.ticks, plan.window
        done = dict.fromkeys((*plan.nodes, *plan.sinks), 0)
        granted = committed = 0
        stop = NO_STOP
        while True:
            slowest = min(done, key=lambda name: done[name])
            in_flight = granted - done[slowest]
            if granted < ticks and in_flight < WINDOWS_IN_FLIGHT * window and stop == NO_STOP:
                board.waiting[index] = COMPUTING
                self.clock.wait(granted)
                granted = min(granted + window, ticks)
                self._say(Order.GRANT, granted)
                continue
            board.waiting[index] = plan.index[slowest]
            name, end, stopped = self._reports.get()
            if not name:
                return self._end(committed)
            done[name] = end
            if stopped != NO_STOP:
                stop = stopped if stop == NO_STOP else min(stop, stopped)
            front = min(done[node] for node in plan.nodes)
            board.ticks[index] = front
            if stop != NO_STOP and front > stop:
                return self._end(stop + 1)
            if front == ticks:
                return self._end(ticks)
            if front > committed and stop == NO_STOP:
                committed = front
                self._say(Order.COMMIT, committed)

    def _end(self, tick: int) -> int:
        self._say(Order.END, tick)
        return tick

    def _say(self, order: Order, tick: int) -> None:
        self._put(CLOCK.pack(order, tick))
