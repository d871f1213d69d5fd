"""One session, any runner: where nodes run is chosen here and changes nothing else."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from graph.build import Session
from graph.fused import FusedLoop, FusedRun, check
from graph.inline import InlineRun
from graph.interrupt import Interrupt
from graph.memory import Array, entry_of
from graph.outcome import Outcome, failure
from graph.service import Clock, Sink, SinkContext

RUNNERS = ("process", "inline", "fused")
INLINE_WINDOW_S = 1.0
"""Simulated time between two looks at a run in this process that no clock paces."""


@dataclass(frozen=True)
class Execution:
    """How a run is executed. None of it changes a byte of the bag."""

    runner: str = "process"
    window_ms: float | None = None  # of the clock; None: as its options say
    rate: float = math.inf  # simulated seconds per second
    bag: str | None = None
    watched: Collection[str] = ()  # topics whose messages go to on_message
    on_message: Callable[[str, bytes], None] = lambda topic, data: None


def prepare(session: Session, runner: str = "process", on_entry: Callable[[str], None] = lambda name: None) -> None:
    """Compile what ``runner`` needs, or load it from the cache; ``on_entry`` hears what comes next."""
    if runner == "fused":
        check(session.graph)
    for instance in session.graph.instances:
        on_entry(instance.name)
        entry_of(instance).compile()
    if runner == "fused":
        on_entry("loop")
        FusedLoop(session.graph).compile()


def run(session: Session, execution: Execution) -> Outcome:
    """Run ``session`` to its end. Raises NodeFailure when a node fails, InputError when the bag cannot be written."""
    if execution.runner == "process":
        return _run_processes(session, execution)
    return _run_here(session, execution, FusedRun if execution.runner == "fused" else InlineRun)


def window_ticks(session: Session, execution: Execution, default_ms: float) -> int:
    """The clock's window in ticks, at least one."""
    return max(1, round((execution.window_ms or default_ms) * 1e6 / session.graph.period_ns))


def _run_processes(session: Session, execution: Execution) -> Outcome:
    from graph.process.supervisor import ProcessRun

    window = window_ticks(session, execution, session.clock[2].window_ms if session.clock else 10.0)
    processes = ProcessRun(session, window, execution.rate, execution.bag, execution.watched, execution.on_message)
    processes.start()
    return processes.wait()


def _run_here(session: Session, execution: Execution, runner: type[InlineRun]) -> Outcome:
    unpaced = math.isinf(execution.rate)
    default_ms = INLINE_WINDOW_S * 1e3 if unpaced or session.clock is None else session.clock[2].window_ms
    window = window_ticks(session, execution, default_ms)
    clock = _clock(session, window, execution.rate)
    here = runner(session.graph, window)
    counts = dict.fromkeys(here.logs, 0)
    with ExitStack() as stack:
        interrupt = stack.enter_context(Interrupt())
        sinks: dict[str, Sink] = {}
        for name, (sink_type, options) in session.sinks.items():
            sink = sink_type(SinkContext(session.graph, session.provenance, options, execution.bag, session.derived))
            stack.callback(sink.close)
            sinks[name] = sink

        def take(end: int, logs: Mapping[str, Array]) -> None:
            for name, log in logs.items():
                counts[name] += len(log)
            for sink in sinks.values():
                sink.take(end, logs)
            for name in execution.watched:
                for slot in logs[name]:
                    execution.on_message(name, slot["data"].tobytes())
            if clock is not None:
                clock.wait(end)

        end = here.run(session.ticks, take, lambda: interrupt.asked)
        published = {name: log.delivered_before(end) for name, log in here.logs.items()}
        _settle(session, sinks, end, published)
        return Outcome(end, counts, interrupt.asked)


def _settle(session: Session, sinks: Mapping[str, Sink], end: int, counts: Mapping[str, int]) -> None:
    """Tell every sink what was published; raises NodeFailure for one that did not get it all."""
    for name, sink in sinks.items():
        problem = sink.end(end, counts)
        if problem is not None:
            raise failure(session.graph, name, end, f"failed: {problem}")


def _clock(session: Session, window: int, rate: float) -> Clock | None:
    kind: Any = session.clock[1] if session.clock else None
    return kind(window, session.graph.period_ns, rate) if kind else None
