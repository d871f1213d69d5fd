"""How a run is executed, and what its sinks are opened with."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from graph.build import Session
from graph.service import SinkContext


@dataclass(frozen=True)
class Execution:
    """How a run is executed. None of it changes a byte of the bag."""

    runner: str = "process"
    window_ms: float | None = None  # of the clock; None: as its options say
    rate: float = math.inf  # simulated seconds per second
    bag: str | None = None
    watched: Collection[str] = ()  # topics whose messages go to on_message
    on_message: Callable[[str, bytes], None] = lambda topic, data: None
    on_notice: Callable[[str], None] = lambda text: None  # what sinks have to say


def sink_context(session: Session, options: Any, execution: Execution, steer: Any) -> SinkContext:
    """The context of one sink of a run; ``steer`` asks the run for something."""
    return SinkContext(
        graph=session.graph,
        provenance=session.provenance,
        options=options,
        bag=execution.bag,
        derived=session.derived,
        steer=steer,
        notice=execution.on_notice,
        runner=execution.runner,
        rate=execution.rate,
        ticks=session.ticks,
    )
