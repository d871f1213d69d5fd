"""The launcher's side of a run: it forks the processes, watches them, and sees that every one of them ends."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import secrets
import signal
import time
from collections.abc import Collection
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from graph.build import Session
from graph.execution import Execution
from graph.interrupt import Interrupt
from graph.memory import entry_of
from graph.outcome import NodeFailure, Outcome, failure
from graph.process import transport
from graph.process.child import Spawn, main
from graph.process.plan import FINISHED, Board, Plan
from graph.process.register import registered
from graph.process.transport import Keys, check, endpoints

NODE_GRACE_S, SINK_GRACE_S = 0.5, 2.0
"""How long a node, and a sink that has a file to close, may take to end once told to."""
POLL_S = 0.25
"""Between two looks at processes that say nothing."""


class ProcessRun:
    """A run of ``session`` with each node, sink and the clock in a process of its own."""

    def __init__(
        self,
        session: Session,
        window: int,
        execution: Execution,
    ) -> None:
        check(session.launch.transport)
        self.plan = Plan(session, window)
        self.graph = session.graph
        self.run_id = secrets.token_hex(4)
        self._board = Board(len(self.plan.processes), self.plan.edges)
        self._spawn = Spawn(
            plan=self.plan,
            keys=Keys(self.run_id),
            board=self._board,
            entries={i.name: entry_of(i).callable for i in self.graph.instances},
            endpoints=tuple(endpoints(session.launch.transport.listen, len(self.plan.processes))),
            execution=execution,
        )
        self._execution = execution
        self._processes: dict[str, Any] = {}
        self._connections: dict[str, Connection] = {}
        self._finished: dict[str, dict[str, int]] = {}
        self._failure: NodeFailure | None = None
        self._begun = False
        self._end_tick: int | None = None
        self._settled = False
        self._stopped = False
        assert session.clock is not None
        self._stall_s: float = session.clock.options.stall_timeout_s
        self._quiet_polls = 0
        self._last_position: tuple[int, ...] = ()

    def run(self) -> Outcome:
        """Fork every process, watch the run to its end and reap them all. Nothing of zenoh may be open in this process.

        Raises NodeFailure when a process failed or stalled, and KeyboardInterrupt at the second Ctrl-C.
        """
        if transport.opened:
            raise RuntimeError("zenoh was opened in this process; processes forked from it would hang")
        with registered(self.plan, self.run_id, self._spawn.endpoints):
            return self._run()

    def _fork(self) -> None:
        context = multiprocessing.get_context("fork")
        pipes = {name: context.Pipe() for name in self.plan.processes}
        for name, (ours, theirs) in pipes.items():
            foreign = [end for other in pipes.values() for end in other if end is not theirs]
            process = context.Process(
                target=main, args=(name, self._spawn, theirs, foreign), name=f"holeshot-{name}", daemon=True
            )
            process.start()
            self._processes[name] = process
            self._connections[name] = ours
        for _, theirs in pipes.values():
            theirs.close()

    def _run(self) -> Outcome:
        with Interrupt() as interrupt:
            try:
                self._fork()
                self._watch(interrupt)
                self._end_all()
            except BaseException:  # a second Ctrl-C, or a process that could not be forked
                self._kill(self._processes)
                raise
        if self._failure is not None:
            raise self._failure
        if not self._begun:
            raise KeyboardInterrupt  # before there was anything to end in order
        assert self._end_tick is not None
        return Outcome(self._end_tick, interrupt.asked or self._stopped)

    def _watch(self, interrupt: Interrupt) -> None:
        told = False
        while self._failure is None and len(self._finished) < len(self._processes):
            if interrupt.asked and not self._begun:
                return
            if interrupt.asked and not told:
                self._tell(self.plan.clock, "interrupt")
                told = True
            running = [n for n in self._processes if n not in self._finished]
            by_object: dict[Any, str] = {self._connections[n]: n for n in running}
            by_object |= {self._processes[n].sentinel: n for n in running}
            ready = wait(list(by_object), timeout=POLL_S)
            for thing in ready:
                if isinstance(thing, Connection):
                    self._hear(by_object[thing])
            self._settle()
            for thing in ready:
                if not isinstance(thing, Connection):
                    self._check_death(by_object[thing])
            if not ready:
                self._check_stall()

    def _hear(self, name: str) -> None:
        """Take all that process ``name`` has reported."""
        connection = self._connections[name]
        with contextlib.suppress(EOFError, OSError):
            while connection.poll():
                kind, *values = connection.recv()
                if kind == "watched":
                    self._execution.on_message(*values)
                elif kind == "notice":
                    self._execution.on_notice(*values)
                elif kind == "finished":
                    self._finished[name] = values[0]
                elif kind == "begun":
                    self._begun = True
                elif kind == "ended":
                    self._end_tick, self._stopped = values
                elif self._failure is None:
                    culprit, text, trace = values
                    self._failure = failure(self.graph, culprit, self._tick(culprit), f"failed: {text}", trace)

    def _settle(self) -> None:
        """Once every node has said what it published, tell the sinks, which wait for it to close what they write."""
        if self._settled or self._end_tick is None or not all(name in self._finished for name in self.plan.nodes):
            return
        self._settled = True
        for sink in self.plan.sinks:
            self._tell(sink, (self._end_tick, self._counts()))

    def _counts(self) -> dict[str, int]:
        return {topic: n for name in self.plan.nodes for topic, n in self._finished[name].items()}

    def _check_death(self, name: str) -> None:
        self._hear(name)
        if name in self._finished or self._failure is not None:
            return
        process = self._processes[name]
        process.join()
        code = process.exitcode
        how = (
            f"was killed by {signal.Signals(-code).name}"
            if code < 0
            else f"exited with code {code} before the run ended"
        )
        self._failure = failure(self.graph, name, self._tick(name), how)

    def _check_stall(self) -> None:
        position = tuple(int(t) for t in self._board.ticks)
        if position != self._last_position:
            self._last_position, self._quiet_polls = position, 0
            return
        # Counted in looks, not by the clock: a machine that was frozen for a while has had none.
        self._quiet_polls += 1
        if self._quiet_polls * POLL_S < self._stall_s:
            return
        culprit = self._culprit()
        if culprit == self.plan.clock and not _is_stopped(self._processes[culprit].pid):
            self._quiet_polls = 0  # the clock is pacing or paused
            return
        self._failure = failure(self.graph, culprit, self._tick(culprit), f"has not moved for {self._stall_s:g} s")

    def _culprit(self) -> str:
        """A process that a signal stopped, else whoever the chain of waiting that begins at the clock ends at: the
        clock itself when it paces. Behind the clock's end, whoever has not ended too.
        """
        stopped = [n for n, process in self._processes.items() if _is_stopped(process.pid)]
        if stopped:
            return stopped[0]
        if self.plan.clock in self._finished or int(self._board.waiting[self.plan.index[self.plan.clock]]) == FINISHED:
            return next(n for n in self.plan.processes if n not in self._finished)
        index, seen = self.plan.index[self.plan.clock], set()
        while index not in seen and int(self._board.waiting[index]) >= 0:
            seen.add(index)
            index = int(self._board.waiting[index])
        return self.plan.processes[index]

    def _tick(self, name: str) -> int:
        return int(self._board.ticks[self.plan.index[name]])

    def _tell(self, name: str, message: Any) -> None:
        with contextlib.suppress(OSError):
            self._connections[name].send(message)

    def _end_all(self) -> None:
        """End whatever still runs: nodes at once, sinks when they have closed what they write."""
        for name in self.plan.sinks if self._failure is not None else ():
            self._tell(name, str(self._failure))
        for name in self._processes:
            if self._failure is not None or name not in self._finished:
                self._tell(name, "stop")
        begun = time.monotonic()
        for names, grace in ((self.plan.sinks, SINK_GRACE_S), ([*self.plan.nodes, self.plan.clock], NODE_GRACE_S)):
            for name in names:
                self._processes[name].join(max(0.0, begun + grace - time.monotonic()))
            self._kill([n for n in names if self._processes[n].is_alive()])
        for connection in self._connections.values():
            connection.close()

    def _kill(self, names: Collection[str]) -> None:
        for name in names:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._processes[name].pid, signal.SIGKILL)
            self._processes[name].kill()  # also one that has no group of its own yet
            self._processes[name].join()


def _is_stopped(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"
    except OSError:
        return False
