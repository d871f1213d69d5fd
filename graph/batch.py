"""The same graph flown under seed after seed: nothing is recorded, and one thread's memory serves every run of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from threading import Event, local
from typing import Any, Generic, TypeVar

import numpy as np

from graph.build import Session, setups
from graph.fused import FusedLoop, loop_failure
from graph.memory import Array, Log, NodeMemory, capacity

WINDOW = 10_000
"""Ticks between two looks at a run: how soon it can be cancelled, and how many messages a kept log must hold."""

Item = TypeVar("Item")
Result = TypeVar("Result")


class Cancelled(Exception):
    """The batch was cancelled while the run was under way."""


@dataclass(frozen=True)
class Flight:
    """A run that ended: the tick it ended before, and all messages of the topics kept."""

    end: int
    messages: Mapping[str, Array]


class CompiledGraph:
    """A session's graph compiled to one function, and the topics whose messages are wanted of every run."""

    def __init__(self, session: Session, kept: Collection[str]) -> None:
        self.session = session
        self.kept = tuple(kept)
        loop = FusedLoop(session.graph)
        self.run: Callable[..., tuple[int, bool]] = loop.callable
        self.code = loop.fingerprint  # equal where the same code flies


class RunMemory:
    """The memory of one run of a compiled graph at a time, however many runs there are and however long."""

    def __init__(self, compiled: CompiledGraph) -> None:
        self.compiled = compiled
        graph = compiled.session.graph
        windows = {t.name: WINDOW if t.name in compiled.kept else 1 for t in graph.topics}
        self._logs = {t.name: Log(t.message, capacity(t, graph, windows[t.name])) for t in graph.topics}
        self._rings = [array for t in graph.topics for array in (self._logs[t.name].ring, self._logs[t.name].count)]

    @property
    def arrays(self) -> list[Array]:
        """What stays allocated from run to run: the log of each topic and its count."""
        return self._rings

    def fly(self, world: Any, cancelled: Callable[[], bool] = lambda: False) -> Flight:
        """Run to the end under ``world``, which may differ in the seed from the session's own.

        Raises Cancelled when ``cancelled`` says so between two windows, NodeFailure when a node raises.
        """
        session, graph = self.compiled.session, self.compiled.session.graph
        configured = setups(session, world)
        memory = [NodeMemory(replace(i, setup=configured[i.name]), graph.period_ns) for i in graph.instances]
        arrays = [array for node in memory for array in node.arrays] + self._rings
        for log in self._logs.values():
            log.reset()
        parts: dict[str, list[Array]] = {name: [] for name in self.compiled.kept}
        tick, stopped = 0, False
        while tick < session.ticks and not stopped:
            if cancelled():
                raise Cancelled
            try:
                tick, stopped = self.compiled.run(tick, min(tick + WINDOW, session.ticks), *arrays)
            except Exception as error:
                raise loop_failure(graph, tick, error) from error
            for name, part in parts.items():
                part.append(self._logs[name].take(tick))
        return Flight(tick, {name: np.concatenate(part) for name, part in parts.items()})


class RunMemories:
    """A memory for each thread that asks; a thread keeps that of the graph it flew last."""

    def __init__(self) -> None:
        self._local = local()

    def of(self, compiled: CompiledGraph) -> RunMemory:
        """This thread's memory for ``compiled``."""
        memory: RunMemory | None = getattr(self._local, "memory", None)
        if memory is None or memory.compiled is not compiled:
            memory = self._local.memory = RunMemory(compiled)
        return memory


class Pool(Generic[Item, Result]):
    """Threads that work on items; results come in the order of the items, whatever the number of threads."""

    def __init__(self, work: Callable[[Item, Callable[[], bool]], Result], jobs: int) -> None:
        """``work`` gets an item, and a function that says whether it is to give up by raising Cancelled."""
        self._work = work
        self._jobs = jobs
        self._stop = Event()

    def results(self, items: Iterable[Item]) -> Iterator[tuple[Item, Result]]:
        """Each item with its result. At most two items for each thread are under way at any time.

        When the caller leaves early, by an exception such as KeyboardInterrupt too, what is under way is cancelled.
        """
        waiting: list[tuple[Item, Future[Result]]] = []
        source = iter(items)
        with ThreadPoolExecutor(self._jobs, thread_name_prefix="batch") as threads:
            try:
                while True:
                    while len(waiting) < 2 * self._jobs and (item := next(source, None)) is not None:
                        waiting.append((item, threads.submit(self._work, item, self._stop.is_set)))
                    if not waiting:
                        return
                    item, future = waiting.pop(0)
                    yield item, future.result()
            finally:
                self._stop.set()
                for _, future in waiting:
                    future.cancel()
