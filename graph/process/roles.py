"""What a process of a run does: step a node, stand in for an external one, feed a sink, or hold the clock.

Each listens to the launcher once it is set up, waits for all others, and reports that it finished.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from graph.execution import Execution, sink_context
from graph.process.clock_host import ClockHost
from graph.process.link import Link
from graph.process.node_host import NodeHost
from graph.process.peer import Peer
from graph.process.sink_host import SinkHost
from graph.process.stand_in import StandIn
from graph.process.steering import ask
from graph.requests import Respond


@dataclass(frozen=True)
class Process:
    """What a process of any kind has."""

    peer: Peer
    link: Link
    execution: Execution

    @property
    def name(self) -> str:
        """Of the node, sink or clock."""
        return self.peer.name

    def show(self, topic: str, data: bytes) -> None:
        """Pass a message on that the launcher watches."""
        self.link.send("watched", topic, data)

    def notice(self, text: str) -> None:
        """Have the launcher say something."""
        self.link.send("notice", text)


def step_node(process: Process, entry: Callable[..., bool]) -> None:
    """Step a node until the clock ends the run."""
    host = NodeHost(process.peer, entry, process.execution.watched, process.show)
    process.link.listen(process.peer.leave)
    process.peer.join()
    process.link.send("finished", host.run())


def stand_in_for_node(process: Process) -> None:
    """Follow an external node until the clock ends the run."""

    def on_left() -> None:
        process.link.failed(process.name, "it left the run")
        process.peer.leave()

    stand_in = StandIn(process.peer, process.execution.watched, process.show, on_left)
    process.link.listen(process.peer.leave)
    process.notice(f"waiting for node {process.name}, which is external: docs/protocol.md says how it joins")
    process.peer.join()
    process.link.send("finished", stand_in.run())


def feed_sink(process: Process) -> None:
    """Feed a sink until the clock ends the run, then let it settle with what the launcher knows was published."""
    peer, link = process.peer, process.link
    joined = threading.Event()

    def steer(request: Mapping[str, Any], respond: Respond) -> None:
        """Ask something of the run, once its clock is known to be there: viewers may come before."""
        if joined.is_set():
            ask(peer.session, peer.keys, request, respond)
        else:
            threading.Thread(target=_after, args=(joined, partial(steer, request, respond)), daemon=True).start()

    settlements: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def on_message(message: Any) -> None:
        """The run has failed, or this is what was published in one that ended in order."""
        if isinstance(message, str):
            try:
                sink.failed(message)
            except Exception:  # the run has failed already, and this is not why
                traceback.print_exc()
        else:
            settlements.put(message)

    def on_stop() -> None:
        """The run is over and nobody will say what was published."""
        settlements.put(None)
        process.peer.leave()

    session = peer.plan.session
    sink_type, options = session.sinks[process.name]
    sink = sink_type(sink_context(session, options, replace(process.execution, on_notice=process.notice), steer))
    with contextlib.closing(sink):
        host = SinkHost(peer, sink)
        link.listen(on_stop, on_message)
        peer.join()
        joined.set()
        host.run()
        settlement = settlements.get()
        problem = sink.end(*settlement) if settlement is not None else None
    if problem is not None:
        link.failed(process.name, problem)
    link.send("finished", {})


def _after(event: threading.Event, act: Callable[[], None]) -> None:
    event.wait()
    act()


def hold_clock(process: Process) -> None:
    """Grant windows until the run is over, and report where it ended."""
    plan = process.peer.plan
    session = plan.session
    assert session.clock is not None
    host = ClockHost(process.peer, session.clock.kind(plan.window, session.graph.period_ns, process.execution.rate))

    def on_message(message: Any) -> None:
        if message == "interrupt":
            host.interrupt()

    process.link.listen(process.peer.leave, on_message)
    process.peer.join()
    process.link.send("begun")
    process.link.send("ended", host.run(), host.stopped)
    process.link.send("finished", {})
