"""The main function of each process of a run, called behind the fork."""

from __future__ import annotations

import os
import signal
import traceback
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection

from graph.errors import InputError
from graph.execution import Execution
from graph.process.edges import PacketError
from graph.process.link import Link
from graph.process.peer import Peer
from graph.process.plan import FINISHED, Board, Plan
from graph.process.roles import Process, feed_sink, hold_clock, stand_in_for_node, step_node
from graph.process.transport import Keys, configuration, session


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
    for other in foreign:
        other.close()
    link = Link(connection)
    try:
        _run(name, spawn, link)
    except InputError as error:
        link.failed(name, str(error))
    except PacketError as error:
        whom = "" if name == error.producer else f" to {name}"
        link.failed(error.producer, f"its packets{whom}: {error}")
    except Exception as error:
        if not link.stopping:
            link.failed(name, f"{type(error).__name__}: {error}", traceback.format_exc())
    spawn.board.waiting[spawn.plan.index[name]] = FINISHED


def _run(name: str, spawn: Spawn, link: Link) -> None:
    plan = spawn.plan
    index = plan.index[name]
    config = configuration([spawn.endpoints[index]], spawn.endpoints[:index], plan.session.launch.transport)
    with session(config) as zenoh_session:
        process = Process(Peer(name, plan, spawn.keys, spawn.board, zenoh_session), link, spawn.execution)
        if name in plan.external:
            stand_in_for_node(process)
        elif name in plan.nodes:
            step_node(process, spawn.entries[name])
        elif name in plan.sinks:
            feed_sink(process)
        else:
            hold_clock(process)
