"""The main function of each process of a run, called behind the fork."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import threading
import traceback
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

from graph.errors import InputError
from graph.execution import Execution, sink_context
from graph.interrupt import SIGNALS
from graph.process.clock_host import ClockHost
from graph.process.edges import PacketError
from graph.process.link import Link
from graph.process.node_host import NodeHost
from graph.process.peer import Peer
from graph.process.plan import FINISHED, Board, Plan
from graph.process.sink_host import SinkHost
from graph.process.stand_in import StandIn
from graph.process.steering import ask
from graph.process.transport import Keys, configuration, session
from graph.requests import Respond, Steer
from graph.service import Sink


@dataclass(frozen=True)
class Spawn:
    """What all processes of a run are forked with."""

    plan: Plan
    keys: Keys
    board: Board
    entries: Mapping[str, Callable[..., bool]]
    endpoints: tuple[str, ...]  # by process index
    execution: Execution


def main(name: str, spawn: Spawn, connection: Connection, foreign: Collection[Connection]) -> None:
    """Run process ``name`` to its end. ``foreign`` are the pipes of others that the fork copied: kept open they would
    hide that the launcher is gone.
    """
    os.setpgid(0, 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    for other in foreign:
        other.close()
    link = Link(connection)
    try:
        _run(name, spawn, link)
    except InputError as error:
        link.failed(name, str(error))
    except PacketError as error:
        link.failed(error.producer, f"its packets to {name}: {error}")
    except Exception as error:
        if not link.stopping:
            link.failed(name, f"{type(error).__name__}: {error}", traceback.format_exc())
    spawn.board.waiting[spawn.plan.index[name]] = FINISHED


def _run(name: str, spawn: Spawn, link: Link) -> None:
    plan = spawn.plan
    index = plan.index[name]
    session_plan = plan.session
    config = configuration([spawn.endpoints[index]], spawn.endpoints[:index], session_plan.launch.transport)
    with contextlib.ExitStack() as stack:
        zenoh_session = stack.enter_context(session(config))
        peer = Peer(name, plan, spawn.keys, spawn.board, zenoh_session)
        watched = spawn.execution.watched

        def on_watched(topic: str, data: bytes) -> None:
            link.send("watched", topic, data)

        if name in plan.external:
            stand_in = StandIn(peer, watched, on_watched, partial(_left, name, link, zenoh_session))
            link.listen(zenoh_session.close)
            link.send("notice", f"waiting for node {name}, which is external: docs/protocol.md says how it joins")
            _join(peer)
            link.send("finished", stand_in.run())
        elif name in plan.nodes:
            host = NodeHost(peer, spawn.entries[name], watched, on_watched)
            link.listen(zenoh_session.close)
            _join(peer)
            link.send("finished", host.run())
        elif name in plan.sinks:
            sink_type, options = session_plan.sinks[name]
            execution = replace(spawn.execution, on_notice=lambda text: link.send("notice", text))
            joined = threading.Event()
            steer = partial(_ask_once_joined, joined, partial(ask, zenoh_session, spawn.keys))
            sink = sink_type(sink_context(session_plan, options, execution, steer))
            stack.callback(sink.close)
            sink_host = SinkHost(peer, sink)
            settlements: queue.SimpleQueue[Any] = queue.SimpleQueue()
            link.listen(partial(_abandon, zenoh_session, settlements), partial(_hear, sink, settlements))
            _join(peer)
            joined.set()
            sink_host.run()
            settlement = settlements.get()
            problem = sink.end(*settlement) if settlement is not None else None
            stack.pop_all().close()
            if problem is not None:
                link.failed(name, problem)
            link.send("finished", {})
        else:
            assert session_plan.clock is not None
            clock = session_plan.clock.kind(plan.window, session_plan.graph.period_ns, spawn.execution.rate)
            clock_host = ClockHost(peer, clock)
            link.listen(zenoh_session.close, lambda message: _tell(clock_host, message))
            _join(peer)
            link.send("ended", clock_host.run(), clock_host.stopped)
            link.send("finished", {})


def _left(name: str, link: Link, zenoh_session: Any) -> None:
    """An external node is gone while the run goes on."""
    link.failed(name, "it left the run")
    zenoh_session.close()


def _ask_once_joined(joined: threading.Event, steer: Steer, request: Mapping[str, Any], respond: Respond) -> None:
    """Ask something of the run, once its clock is known to be there: viewers may come before."""

    def wait_and_ask() -> None:
        joined.wait()
        steer(request, respond)

    if joined.is_set():
        steer(request, respond)
    else:
        threading.Thread(target=wait_and_ask, daemon=True).start()


def _abandon(zenoh_session: Any, settlements: queue.SimpleQueue[Any]) -> None:
    """The run is over and nobody will say what was published."""
    settlements.put(None)
    zenoh_session.close()


def _hear(sink: Sink, settlements: queue.SimpleQueue[Any], message: Any) -> None:
    """What the launcher tells a sink: that the run has failed, or what was published in one that ended in order."""
    if isinstance(message, str):
        sink.failed(message)
    else:
        settlements.put(message)


def _tell(clock: ClockHost, message: Any) -> None:
    if message == "interrupt":
        clock.interrupt()


def _join(peer: Peer) -> None:
    """Wait for all others, then share a core with those that the loop runs through one after the other: starting up is
    parallel, stepping is serial.
    """
    peer.join()
    if hasattr(os, "sched_setaffinity"):
        core = peer.plan.core(peer.name, sorted(os.sched_getaffinity(0)))
        for thread in os.listdir("/proc/self/task"):
            with contextlib.suppress(ProcessLookupError):
                os.sched_setaffinity(int(thread), {core})
