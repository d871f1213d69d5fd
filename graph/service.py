"""Parts of a run that are not stepped: the clock, and sinks such as the recorder and the viewer."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import Field

from graph.config import Config
from graph.derived import Derived
from graph.memory import Array
from graph.provenance import Provenance
from graph.requests import Steer
from graph.wiring import Graph

LONGEST_WINDOW_MS = 10_000


@dataclass(frozen=True)
class SinkContext:
    """What a sink is opened with."""

    graph: Graph
    provenance: Provenance
    options: Any
    bag: str | None  # where this run is recorded, if it is
    derived: Sequence[Derived] = ()  # topics to be computed from what the sink takes
    steer: Steer | None = None  # asks the run for something
    notice: Callable[[str], None] = lambda text: None  # says something to whoever started the run
    runner: str = ""
    rate: float = math.inf  # simulated seconds per second, at the start
    ticks: int = 0  # of the run, if nothing ends it earlier


class Sink(ABC):
    """Takes the messages of every topic, window by window: the same in every runner."""

    PERIOD_S: ClassVar[float] = 0.0
    """Wall time between two takes at least, where the sink has a process of its own: it then takes what became final
    meanwhile at once, and the run goes on without waiting for it, up to a second of simulated time and four windows.
    """

    def __init__(self, context: SinkContext) -> None:
        self.context = context

    @classmethod  # noqa: B027 (most sinks need nothing of the machine)
    def check(cls, options: Any) -> None:
        """Raises InputError when a sink with these options cannot be opened here. Asked before any sink is opened."""

    @abstractmethod
    def take(self, end: int, logs: Mapping[str, Array]) -> None:
        """The messages of each topic, as (delivery tick, record), delivered in the window that ended before ``end``."""

    def end(self, tick: int, counts: Mapping[str, int]) -> str | None:
        """The run ended in order before ``tick``, its publishers having delivered ``counts`` messages by topic.

        Returns what is wrong with what ``take`` got, as a sentence that fails the run, or None. A run that failed ends
        without this call.
        """
        return None

    def failed(self, text: str) -> None:  # noqa: B027 (most sinks have nothing to do)
        """The run has failed, as ``text`` says; the sink is about to be closed."""

    @abstractmethod
    def close(self) -> None:
        """The run is over; what ``take`` got is all there is."""


class ClockOptions(Config):
    """Options of every clock; none of them changes a byte of the bag."""

    window_ms: float = Field(default=10.0, gt=0, le=LONGEST_WINDOW_MS, description="simulated time granted at once, ms")
    stall_timeout_s: float = Field(
        default=10.0, gt=0, description="how long nothing may move before the node all wait for has failed, s"
    )


class Clock(ABC):
    """Decides how far simulated time may go. It is asked between windows; it never changes a byte.

    The options of its node are ClockOptions, or a class made from them.
    """

    def __init__(self, window: int, period_ns: int, rate: float) -> None:
        """``window`` in ticks; ``rate`` in simulated seconds per second, infinite for as fast as it goes."""
        self.window = window
        self.period_ns = period_ns
        self.rate = rate

    @abstractmethod
    def ahead(self, tick: int) -> float:
        """Wall time until the window that starts at ``tick`` may begin, s; 0 or less when it may now."""

    def set_rate(self, rate: float) -> None:
        """Pace from now on at that rate, whatever was late before."""
        self.rate = rate
