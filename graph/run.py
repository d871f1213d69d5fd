"""One session, any runner: where nodes run is chosen here and changes nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack

from graph.bag import complete
from graph.build import Session
from graph.control import Control, Rows
from graph.execution import Execution, sink_context
from graph.fused import FusedLoop, FusedRun, check
from graph.inline import InlineRun
from graph.interrupt import Interrupt
from graph.memory import Array, entry_of
from graph.outcome import NodeFailure, Outcome, failure
from graph.pacing import Pacer, RequestQueue
from graph.service import Clock, Sink

RUNNERS = ("process", "inline", "fused")
INLINE_WINDOW_S = 1.0
"""Simulated time between two looks at a run in this process that no clock paces."""


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


def check_sinks(session: Session) -> None:
    """Raises InputError when a sink cannot be opened."""
    for sink_type, options in session.sinks.values():
        sink_type.check(options)


def run(session: Session, execution: Execution) -> Outcome:
    """Run ``session`` to its end. Raises NodeFailure when a node fails, InputError when a sink cannot be opened."""
    check_sinks(session)  # before any is opened: a bag that is there is only replaced by a run that begins
    if execution.runner == "process":
        return _run_processes(session, execution)
    return _run_here(session, execution, FusedRun if execution.runner == "fused" else InlineRun)


def window_ticks(session: Session, execution: Execution, default_ms: float) -> int:
    """The clock's window in ticks, at least one."""
    return max(1, round((execution.window_ms or default_ms) * 1e6 / session.graph.period_ns))


def _run_processes(session: Session, execution: Execution) -> Outcome:
    from graph.process.supervisor import ProcessRun

    window = window_ticks(session, execution, session.clock.options.window_ms if session.clock else 0.0)
    try:
        return ProcessRun(session, window, execution).run()
    except (NodeFailure, KeyboardInterrupt):
        if execution.bag is not None:
            complete(execution.bag)  # when the recorder died, or was not given the time to end
        raise


def _run_here(session: Session, execution: Execution, runner: type[InlineRun]) -> Outcome:
    unpaced = window_ticks(session, execution, INLINE_WINDOW_S * 1e3)
    paced = unpaced if session.clock is None else window_ticks(session, execution, session.clock.options.window_ms)
    clock = _clock(session, paced, execution.rate)
    window = max(paced, unpaced)
    here = runner(session.graph, window)

    def apply(node: str, tick: int, rows: Rows) -> None:
        live, memory = session.graph.instance(node).setup.live, here.memory[node]
        assert live is not None
        live.apply(memory.P[0], memory.S[0], tick * session.graph.period_ns, rows)

    control, requests = Control(session.graph, clock, session.ticks, apply), RequestQueue()
    with ExitStack() as stack:
        interrupt = stack.enter_context(Interrupt())
        sinks: dict[str, Sink] = {}
        for name, (sink_type, options) in session.sinks.items():
            sink = sink_type(sink_context(session, options, execution, requests.ask))
            stack.callback(sink.close)
            sinks[name] = sink
        # Before the sinks are closed, which may wait for an answer.
        stack.callback(requests.close)
        stack.callback(lambda: control.over(here.tick))

        def take(end: int, logs: Mapping[str, Array]) -> None:
            for name, sink in sinks.items():
                try:
                    sink.take(end, logs)
                except Exception as error:
                    raise failure(session.graph, name, end, error) from error
            for name in execution.watched:
                for slot in logs[name]:
                    execution.on_message(name, slot["data"].tobytes())

        pacer = Pacer(control, requests, window, lambda: interrupt.asked)
        try:
            end = here.run(session.ticks, take, pacer.next_window)
            control.over(end)
            published = {name: log.delivered_before(end) for name, log in here.logs.items()}
            _settle(session, sinks, end, published)
        except NodeFailure as error:
            for sink in sinks.values():
                sink.failed(str(error))
            raise
        return Outcome(end, interrupt.asked or control.stopped)


def _settle(session: Session, sinks: Mapping[str, Sink], end: int, counts: Mapping[str, int]) -> None:
    """Tell every sink what was published; raises NodeFailure for one that did not get it all."""
    for name, sink in sinks.items():
        problem = sink.end(end, counts)
        if problem is not None:
            raise failure(session.graph, name, end, f"failed: {problem}")


def _clock(session: Session, window: int, rate: float) -> Clock | None:
    return None if session.clock is None else session.clock.kind(window, session.graph.period_ns, rate)
