"""Runner ``inline``: all nodes in this process, the generated loop interpreted, each entry called directly."""

from __future__ import annotations

import linecache
import traceback
from collections.abc import Callable, Mapping

from graph import cache, loop
from graph.memory import Array, Log, NodeMemory, entry_of, logs_for
from graph.outcome import NodeFailure, failure
from graph.wiring import Graph

Take = Callable[[int, Mapping[str, Array]], None]
"""Called after each window with the tick it ended before, and the messages of each topic delivered in it."""


class InlineRun:
    """A run of ``graph`` in this process; ``window`` is how many ticks pass between two calls of ``take``."""

    def __init__(self, graph: Graph, window: int) -> None:
        self.graph = graph
        self.window = window
        self.tick = 0
        self.memory = {i.name: NodeMemory(i, graph.period_ns) for i in graph.instances}
        self.logs: dict[str, Log] = logs_for(graph, window)
        self._run = self._loop()

    def _loop(self) -> Callable[..., tuple[int, bool]]:
        names = {f"step_{i.name}": entry_of(i).callable for i in self.graph.instances}
        run: Callable[..., tuple[int, bool]] = cache.generated("loop", loop.source(self.graph), names, ())["run"]
        return run

    def arrays(self) -> list[Array]:
        """The loop's array arguments."""
        arrays = [a for i in self.graph.instances for a in self.memory[i.name].arrays]
        return arrays + [a for t in self.graph.topics for a in (self.logs[t.name].ring, self.logs[t.name].count)]

    def step(self, tick: int, end: int) -> tuple[int, bool]:
        """Step from ``tick`` until before ``end``; returns the tick behind the last one, and whether a node stopped."""
        return self._run(tick, end, *self.arrays())

    def run(self, end: int, take: Take, next_window: Callable[[int], int] | None = None) -> int:
        """Step until before tick ``end``, or until a node ends the run.

        ``next_window`` is asked at each tick a window may begin: the tick before which it ends, at most ``window``
        later, or that tick itself when the run is to end there.

        Returns the tick behind the last one stepped. Raises NodeFailure when a node raises.
        """
        arrays, stopped = self.arrays(), False
        while self.tick < end and not stopped:
            until = self.tick + self.window if next_window is None else next_window(self.tick)
            if until == self.tick:
                break
            try:
                self.tick, stopped = self._run(self.tick, min(until, end), *arrays)
            except (Exception, SystemExit) as error:
                raise self._failed(error) from error
            take(self.tick, {name: log.take(self.tick) for name, log in self.logs.items()})
        return self.tick

    def _failed(self, error: BaseException) -> NodeFailure:
        """What a node raised: the loop's line that called it names it."""
        calls = [(f, line) for f, line in traceback.walk_tb(error.__traceback__) if f.f_code is self._run.__code__]
        [(frame, number)] = calls
        line = linecache.getline(frame.f_code.co_filename, number)
        [name] = [i.name for i in self.graph.instances if f"step_{i.name}(" in line]
        return failure(self.graph, name, frame.f_locals["tick"], error)
