"""What a row of the bench is, and how it takes time: the least of several repeats, of CPU time where that is meant."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


class Unavailable(Exception):
    """The row cannot be measured on this machine; the message says why."""


@dataclass(frozen=True)
class Measured:
    """A measured value with its unit, and more numbers behind it."""

    value: float
    unit: str
    detail: str = ""
    numbers: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Row:
    """One row: what is measured, and what it should reach, at most or at least; nothing where it only informs."""

    name: str
    what: str
    measure: Callable[[], Measured]
    reach: float | None = None
    at_least: bool = False

    def ratio(self, measured: Measured) -> float | None:
        """Measured over reach, or reach over measured where more is better: at most 1 is good."""
        if self.reach is None:
            return None
        return self.reach / measured.value if self.at_least else measured.value / self.reach


def least(
    repeats: int,
    run: Callable[[], Any],
    clock: Callable[[], float] = time.perf_counter,
    before: Callable[[], Any] = int,
) -> float:
    """The least time of a run, s; ``before`` each is not counted. What disturbs a run only ever makes it longer."""
    best = float("inf")
    for _ in range(repeats):
        before()
        begun = clock()
        run()
        best = min(best, clock() - begun)
    return best
