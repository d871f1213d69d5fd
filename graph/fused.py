"""Runner ``fused``: the loop that the inline runner interprets, compiled together with its entries to one function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

from graph import cache, loop
from graph.entry import compiled, interpreted
from graph.errors import InputError
from graph.inline import InlineRun
from graph.memory import entry_of
from graph.outcome import NodeFailure, failure
from graph.wiring import Graph


class FusedLoop:
    """The compiled loop of a graph. Raises InputError when a node of it is plain Python."""

    def __init__(self, graph: Graph) -> None:
        check(graph)
        entries = {i.name: entry_of(i) for i in graph.instances}
        names = {f"step_{name}": entry.dispatcher for name, entry in entries.items()}
        modules = sorted(set().union(*(entry.modules for entry in entries.values())))
        # The entries' sources count too: they are not imported, so the modules do not lead to them.
        sources = tuple(entry.source for entry in entries.values())
        self.source = loop.source(graph)
        self.fingerprint = cache.fingerprint(self.source, modules, sources)  # of all code it depends on
        self.interpreted: Callable[..., Any] = cache.generated("loop", self.source, names, modules, sources)["run"]
        self.dispatcher = compiled(self.interpreted)
        kinds: dict[str, Any] = {}
        for instance in graph.instances:
            kinds |= dict(zip(loop.arguments_of(instance), entries[instance.name].signature()[2:], strict=True))
        self.signature = (numba.int64, numba.int64, *(kinds[name] for name in loop.arguments(graph)))

    def compile(self) -> None:
        """Compile the loop or load it from the cache."""
        with cache.keeping():
            self.dispatcher.compile(self.signature)

    @property
    def callable(self) -> Callable[..., tuple[int, bool]]:
        """The compiled loop without the dispatcher around it."""
        self.compile()
        return self.dispatcher.overloads[self.signature].entry_point


def check(graph: Graph) -> None:
    """Raises InputError when a node of the graph cannot be compiled."""
    if interpreted():
        raise InputError("runner fused is compiled, which NUMBA_DISABLE_JIT forbids; use --runner process or inline")
    for instance in graph.instances:
        if instance.node.python:
            raise InputError(
                f"node {instance.name} ({instance.node.where}) is plain Python, which runner fused cannot compile; "
                "use --runner process or inline"
            )


class FusedRun(InlineRun):
    """A run of ``graph`` compiled to one function; sinks take the same windows as from the inline runner."""

    def _loop(self) -> Callable[..., tuple[int, bool]]:
        return FusedLoop(self.graph).callable

    def _failed(self, error: BaseException) -> NodeFailure:
        return loop_failure(self.graph, self.tick, error)


def loop_failure(graph: Graph, tick: int, error: BaseException) -> NodeFailure:
    """What a node raised in the window from ``tick`` on: compiled, the loop has no line that would name it."""
    what = f"failed: {type(error).__name__}: {error} (runner inline tells which node and when)"
    return failure(graph, "of the loop", tick, what)
