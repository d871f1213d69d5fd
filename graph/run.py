"""One session, any runner: where nodes run is chosen here and changes nothing else."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from graph.build import Session
from graph.inline import InlineRun
from graph.memory import Array, entry_of
from graph.outcome import Outcome
from graph.service import Clock, SinkContext

RUNNERS = ("process", "inline")
INLINE_WINDOW_S = 1.0
"""Simulated time between two looks at an inline run that no clock paces."""


@dataclass(frozen=True)
class Execution:
    """How a run is executed. None of it changes a byte of the bag."""

    runner: str = "process"
    window_ms: float | None = None  # of the clock; None: as its options say
    rate: float = math.inf  # simulated seconds per second
    bag: str | None = None
    watched: Collection[str] = ()  # topics whose messages go to on_message
    on_message: Callable[[str, bytes], None] = lambda topic, data: None


def prepare(session: Session, on_entry: Callable[[str], None] = lambda name: None) -> None:
    """Compile what the session's nodes need, or load it from the cache."""
    for instance in session.graph.instances:
        on_entry(instance.name)
        entry_of(instance).compile()


def run(session: Session, execution: Execution) -> Outcome:
    """Run ``session`` to its end. Raises NodeFailure when a node fails, InputError when the bag cannot be written."""
    return {"process": _run_processes, "inline": _run_inline}[execution.runner](session, execution)


def window_ticks(session: Session, execution: Execution, default_ms: float) -> int:
    """The clock's window in ticks, at least one."""
    return max(1, round((execution.window_ms or default_ms) * 1e6 / session.graph.period_ns))


def _run_processes(session: Session, execution: Execution) -> Outcome:
    from graph.process.supervisor import ProcessRun

    window = window_ticks(session, execution, session.clock[2].window_ms if session.clock else 10.0)
    processes = ProcessRun(session, window, execution.rate, execution.bag, execution.watched, execution.on_message)
    processes.start()
    return processes.wait()


def _run_inline(session: Session, execution: Execution) -> Outcome:
    unpaced = math.isinf(execution.rate)
    default_ms = INLINE_WINDOW_S * 1e3 if unpaced or session.clock is None else session.clock[2].window_ms
    window = window_ticks(session, execution, default_ms)
    clock = _clock(session, window, execution.rate)
    inline = InlineRun(session.graph, window)
    counts = dict.fromkeys(inline.logs, 0)
    with ExitStack() as stack:
        sinks = []
        for sink_type, options in session.sinks.values():
            sink = sink_type(SinkContext(session.graph, session.provenance, options, execution.bag))
            stack.callback(sink.close)
            sinks.append(sink)

        def take(end: int, logs: Mapping[str, Array]) -> None:
            for name, log in logs.items():
                counts[name] += len(log)
            for sink in sinks:
                sink.take(end, logs)
            for name in execution.watched:
                for slot in logs[name]:
                    execution.on_message(name, slot["data"].tobytes())
            if clock is not None:
                clock.wait(end)

        try:
            end = inline.run(session.ticks, take)
            return Outcome(end, counts)
        except KeyboardInterrupt:
            return Outcome(inline.tick, counts, interrupted=True)


def _clock(session: Session, window: int, rate: float) -> Clock | None:
    kind: Any = session.clock[1] if session.clock else None
    return kind(window, session.graph.period_ns, rate) if kind else None
