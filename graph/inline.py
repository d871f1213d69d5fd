"""Runner ``inline``: all nodes in this process, the generated loop interpreted, each entry called directly."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from graph import cache, loop
from graph.memory import Array, Log, NodeMemory, entry_of, logs_for
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

    def run(self, end: int, take: Take) -> int:
        """Step until before tick ``end`` or until a node ends the run; returns the tick behind the last one stepped."""
        arrays, stopped = self.arrays(), False
        while self.tick < end and not stopped:
            self.tick, stopped = self._run(self.tick, min(self.tick + self.window, end), *arrays)
            take(self.tick, {name: log.take(self.tick) for name, log in self.logs.items()})
        return self.tick
