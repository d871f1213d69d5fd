"""The clock: paces windows of simulated time against the wall clock."""

import math
import time

from pydantic import Field

from graph.config import Config
from graph.service import Clock


class Options(Config):
    """Options of the clock node; none of them changes a byte of the bag."""

    window_ms: float = Field(default=10.0, gt=0, description="simulated time granted at once, ms")
    stall_timeout_s: float = Field(
        default=10.0, gt=0, description="how long nothing may move before the node all wait for has failed, s"
    )


class PacedClock(Clock):
    """Grants windows at a rate of simulated seconds per second, or as fast as the nodes go."""

    def __init__(self, window: int, period_ns: int, rate: float) -> None:
        super().__init__(window, period_ns, rate)
        self._origin: float | None = None

    def ahead(self, tick: int) -> float:
        """How far tick / rate is ahead of the wall clock, s; a run that fell behind does not race to catch up."""
        if math.isinf(self.rate):
            return 0.0
        now = time.monotonic()
        due = tick * self.period_ns * 1e-9 / self.rate
        if self._origin is None:
            self._origin = now - due
        ahead = self._origin + due - now
        if ahead < 0:
            self._origin -= ahead
        return ahead

    def set_rate(self, rate: float) -> None:
        """Pace from now on at another rate."""
        super().set_rate(rate)
        self._origin = None
