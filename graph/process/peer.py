"""What every process of a run does alike: join, wait for all others, hear the clock, report windows done."""

from __future__ import annotations

import contextlib
import os
import queue
from collections.abc import Callable
from typing import Any

from graph.cores import available_cores
from graph.errors import InputError
from graph.process.packets import CLOCK, DONE, NO_STOP, ClockWord
from graph.process.plan import COMPUTING, WAITING_FOR_CLOCK, Board, Edge, Plan
from graph.process.transport import Keys

DEPTH_SLACK = 64
"""Packets that a queue holds beyond those that can be under way."""
READY_TIMEOUT_S, READY_MARGIN_S = 30.0, 5.0
"""How long others may take to start; whoever stands in for an external node gives up sooner, by the margin."""
EXTERNAL_TIMEOUT_S = 60.0
"""How long an external node may take to join."""


class ZenohChannel:
    """The payloads of one key, in order, waiting when there is none."""

    def __init__(self, session: Any, key: str, capacity: int) -> None:
        import zenoh

        self._subscriber = session.declare_subscriber(key, zenoh.handlers.FifoChannel(capacity))

    def recv(self) -> bytes:
        """The next payload; raises zenoh.ZError once the session is closed."""
        payload: bytes = self._subscriber.recv().payload.to_bytes()
        return payload

    def try_recv(self) -> bytes | None:
        """The next payload, None when there is none yet; raises zenoh.ZError once the session is closed."""
        sample = self._subscriber.try_recv()
        return None if sample is None else sample.payload.to_bytes()


class Peer:
    """One process's part in the protocol."""

    def __init__(self, name: str, plan: Plan, keys: Keys, board: Board, session: Any) -> None:
        self.name = name
        self.plan = plan
        self.keys = keys
        self.board = board
        self.session = session
        self.index = plan.index[name]
        if name != plan.clock:
            # The clock says at most two words of a tick, and few that are of none.
            self._clock = ZenohChannel(session, keys.clock, 2 * plan.capacity(name) + DEPTH_SLACK * 16)
            self._done = self.publisher(keys.done(name))
        self._token: Any = None
        self._arrived: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self.told = b""

    def publisher(self, key: str) -> Callable[[bytes], None]:
        """A publisher that waits rather than dropping."""
        import zenoh

        declared = self.session.declare_publisher(key, congestion_control=zenoh.CongestionControl.BLOCK)
        put: Callable[[bytes], None] = declared.put
        return put

    def channel(self, key: str) -> ZenohChannel:
        """A subscriber for an edge, whose packets number at most one per tick."""
        return ZenohChannel(self.session, key, self.plan.capacity(self.name) + DEPTH_SLACK)

    def tally(self, edge: Edge) -> memoryview:
        """Where what comes over an edge is summed up."""
        return self.board.tallies[self.plan.edges.index(edge)]

    def join(self) -> None:
        """Say that this process's subscribers stand, wait until those of all others do, and move to its core."""
        self._meet()
        self._take_core()

    def leave(self) -> None:
        """Close the session, which ends whatever waits for messages or for others to start. From any thread."""
        self._arrived.put(None)
        self.session.close()

    def _meet(self) -> None:
        arrived = self._arrived
        watch = self.session.liveliness().declare_subscriber(
            self.keys.ready_all, lambda sample: arrived.put(str(sample.key_expr)), history=True
        )
        own, external = self.keys.ready(self.name), self.name in self.plan.external
        if not external:  # or it is the node itself that says so
            self._token = self.session.liveliness().declare_token(own)
        missing = {self.keys.ready(name) for name in self.plan.processes}
        if not external:
            missing.discard(own)
        # Those who wait for an external node leave it to the one that stands in for it to say that it does not come.
        limit = EXTERNAL_TIMEOUT_S if self.plan.external else READY_TIMEOUT_S
        limit += 0.0 if external else READY_MARGIN_S
        while missing:
            try:
                name = arrived.get(timeout=limit)
                if name is None:
                    raise ConnectionAbortedError("told to end before the run began")
                missing.discard(name)
            except queue.Empty:
                if external:
                    raise InputError(f"it did not join within {limit:g} s") from None
                absent = ", ".join(sorted(key.rpartition("/")[2] for key in missing))
                raise TimeoutError(f"{self.name} waited {limit:g} s for {absent} to start") from None
        watch.undeclare()

    def _take_core(self) -> None:
        """Share a core with those that the loop runs through one after the other: starting up is parallel, stepping is
        serial.
        """
        if hasattr(os, "sched_setaffinity"):
            core = self.plan.core(self.name, available_cores())
            for thread in os.listdir("/proc/self/task"):
                with contextlib.suppress(ProcessLookupError):
                    os.sched_setaffinity(int(thread), {core})

    def hear_clock(self) -> tuple[ClockWord, int]:
        """The clock's next word; what it tells a node is in ``told``."""
        self.board.waiting[self.index] = WAITING_FOR_CLOCK
        payload = self._clock.recv()
        self.board.waiting[self.index] = COMPUTING
        return self._read(payload)

    def heard_clock(self) -> tuple[ClockWord, int] | None:
        """The clock's next word if it has said one."""
        payload = self._clock.try_recv()
        return None if payload is None else self._read(payload)

    def _read(self, payload: bytes) -> tuple[ClockWord, int]:
        word, tick = CLOCK.unpack_from(payload)
        self.told = payload[CLOCK.size :]
        return ClockWord(word), tick

    def report_done(self, end: int, stop: int = NO_STOP) -> None:
        """Say that everything before tick ``end`` is done, and whether the node ended the run at tick ``stop``."""
        self._done(DONE.pack(end, stop))
