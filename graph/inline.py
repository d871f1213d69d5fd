"""Runner ``inline``: all nodes in this process, the generated loop interpreted, each entry called directly."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from graph import cache, loop
from graph.memory import Array, Log, NodeMemory, entry_of, logs_for
from graph.outcome import failure
from graph.wiring import Graph, Instance

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
        names = {f"step_{i.name}": self._step(i) for i in self.graph.instances}
        run: Callable[..., tuple[int, bool]] = cache.generated("loop", loop.source(self.graph), names, ())["run"]
        return run

    def _step(self, instance: Instance) -> Callable[..., bool]:
        entry = entry_of(instance).callable
        if not instance.node.python:
            return entry

        def step(tick: int, t: int, *arrays: Array) -> bool:
            try:
                return entry(tick, t, *arrays)
            except (Exception, SystemExit) as error:
                raise failure(self.graph, instance.name, tick, error) from error

        return step

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

        Returns the tick behind the last one stepped. Raises NodeFailure when a plain-Python node raises.
        """
        arrays, stopped = self.arrays(), False
        while self.tick < end and not stopped:
            until = self.tick + self.window if next_window is None else next_window(self.tick)
            if until == self.tick:
                break
            self.tick, stopped = self._run(self.tick, min(until, end), *arrays)
            take(self.tick, {name: log.take(self.tick) for name, log in self.logs.items()})
        return self.tick
