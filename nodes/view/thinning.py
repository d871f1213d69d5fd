"""Which messages of a topic a viewer gets when there are more than it can show."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from graph.memory import Array
from msgs.units import NS_PER_S

RARE_HZ = 10
"""Messages of a topic per simulated second that are never left out, so that rare events all arrive."""
SAVED_S = 0.5
"""Wall time whose messages may come at once, for a run that goes on by fits and starts."""


class Thinning:
    """Thins one topic to ``hz`` messages per simulated second, and per second of wall time when time flies."""

    def __init__(self, hz: float, period_ns: int, clock: Callable[[], float] = time.monotonic) -> None:
        """``hz`` 0: nothing is left out. ``clock`` tells wall time, s."""
        self._hz = hz
        self._period_ns = period_ns
        self._cell = -1
        self._rare, self._rare_at = float(RARE_HZ), 0  # how many more are rare, and as of when, ns
        self._clock = clock
        self._room, self._room_at = hz * SAVED_S, clock()
        self.left_out = 0

    def chosen(self, ticks: Array) -> list[int]:
        """Indices of the messages to send, of those delivered at ``ticks`` (n, int64)."""
        if self._hz <= 0.0 or not len(ticks):
            return list(range(len(ticks)))
        times = ticks * self._period_ns
        cells = np.floor(times * (self._hz / NS_PER_S)).astype(np.int64).tolist()
        kept, others = [], []
        for index, (now_ns, cell) in enumerate(zip(times.tolist(), cells, strict=True)):
            # The absolute value: a bag that is played can go back.
            self._rare = min(self._rare + abs(now_ns - self._rare_at) * (RARE_HZ / NS_PER_S), RARE_HZ)
            self._rare_at = now_ns
            if self._rare >= 1.0:
                self._rare -= 1.0
                kept.append(index)
            elif cell != self._cell:
                others.append(index)
            self._cell = cell
        kept += self._evenly(others)
        self.left_out += len(ticks) - len(kept)
        return sorted(kept)

    def _evenly(self, indices: list[int]) -> list[int]:
        """As many of them as there is room for in wall time."""
        now = self._clock()
        self._room = min(self._room, max(self._hz * SAVED_S, 1.0)) + self._hz * (now - self._room_at)
        self._room_at = now
        room = min(len(indices), int(self._room))
        self._room -= room
        return [indices[(i + 1) * len(indices) // room - 1] for i in range(room)]
