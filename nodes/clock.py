"""The clock: paces windows of simulated time against the wall clock."""

import math
import time
from collections.abc import Callable

from graph.service import Clock, ClockOptions

Options = ClockOptions
FORGIVEN_S = 0.1
"""Lateness that is caught up, wall time; a run that fell further behind does not race to catch up with the rest."""


class PacedClock(Clock):
    """Grants windows at a rate of simulated seconds per second, or as fast as the nodes go."""

    def __init__(self, window: int, period_ns: int, rate: float, now: Callable[[], float] = time.monotonic) -> None:
        """``now`` is the wall clock, s."""
        super().__init__(window, period_ns, rate)
        self._wall = now
        self._origin: float | None = None

    def ahead(self, tick: int) -> float:
        """How far tick / rate is ahead of the wall clock, s."""
        if math.isinf(self.rate):
            return 0.0
        now = self._wall()
        due = tick * self.period_ns * 1e-9 / self.rate
        if self._origin is None:
            self._origin = now - due
        ahead = self._origin + due - now
        if ahead < -FORGIVEN_S:
            self._origin -= ahead + FORGIVEN_S
        return ahead

    def set_rate(self, rate: float) -> None:
        """Pace from now on at that rate, whatever was late before."""
        super().set_rate(rate)
        self._origin = None
