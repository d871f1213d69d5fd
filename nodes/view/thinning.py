"""Which messages of a topic a viewer gets when there are more than it can show."""

from __future__ import annotations

import time

import numpy as np

from graph.memory import Array
from graph.wiring import SECOND

BURST = 10
"""Messages of a topic in one simulated second that are never left out, so that rare events all arrive."""


class Thinning:
    """Thins one topic to ``hz`` messages per simulated second, and per second of wall time when time flies."""

    def __init__(self, hz: float, period_ns: int) -> None:
        """``hz`` 0: nothing is left out."""
        self._hz = hz
        self._period_ns = period_ns
        self._cell = -1
        self._second = -1
        self._in_second = 0
        self._at = time.monotonic()
        self.left_out = 0

    def chosen(self, ticks: Array) -> list[int]:
        """Indices of the messages to send, of those delivered at ``ticks`` (n, int64)."""
        if self._hz <= 0.0 or not len(ticks):
            return list(range(len(ticks)))
        times = ticks * self._period_ns
        cells = np.floor(times * (self._hz / SECOND)).astype(np.int64).tolist()
        seconds = (times // SECOND).tolist()
        kept = []
        for index, (cell, second) in enumerate(zip(cells, seconds, strict=True)):
            if second != self._second:
                self._second, self._in_second = second, 0
            self._in_second += 1
            if cell != self._cell or self._in_second <= BURST:
                kept.append(index)
            self._cell = cell
        now = time.monotonic()
        room, self._at = max(BURST, int(self._hz * (now - self._at))), now
        if len(kept) > room:
            kept = [kept[(i + 1) * len(kept) // room - 1] for i in range(room)]
        self.left_out += len(ticks) - len(kept)
        return kept
