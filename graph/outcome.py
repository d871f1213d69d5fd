"""How a run ended."""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING

from graph.errors import InputError

if TYPE_CHECKING:
    from graph.wiring import Graph  # only its type: the command line catches these without loading a compiler


@dataclass(frozen=True)
class Outcome:
    """A run that ended in order: the tick it ended before, and whether Ctrl-C or a request ended it."""

    end: int
    interrupted: bool = False


class NodeFailure(Exception):
    """A node failed, died or stalled: exit code 3."""

    def __init__(self, node: str, tick: int, time_s: float, what: str, owed: tuple[str, ...], trace: str) -> None:
        self.node = node
        self.tick = tick
        self.time_s = time_s  # simulated
        self.what = what
        self.owed = owed
        self.trace = trace
        super().__init__(str(self))

    def __str__(self) -> str:
        owed = f"; it owed topic{'s' if len(self.owed) > 1 else ''} {', '.join(self.owed)}" if self.owed else ""
        return f"node {self.node} {self.what} at tick {self.tick} ({self.time_s:.3f} s simulated){owed}"


def failure(graph: Graph, node: str, tick: int, what: str | BaseException, trace: str = "") -> NodeFailure:
    """The failure of a part of ``graph``, with the topics it owed; an exception brings its own words and traceback, of
    which bad input needs none.
    """
    if isinstance(what, InputError):
        what = f"failed: {what}"
    elif isinstance(what, BaseException):
        trace = "".join(traceback.format_exception(what))
        what = f"failed: {type(what).__name__}: {what}"
    owed = tuple(t.name for t in graph.topics if t.publisher.name == node)
    return NodeFailure(node, tick, tick * graph.period_ns * 1e-9, what, owed, trace)
