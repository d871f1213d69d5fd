"""The messages of one topic, followed from picture to picture."""

from __future__ import annotations

from typing import Any

from graph.memory import Array


class Newest:
    """The messages of one topic, of which each picture takes the newest."""

    def __init__(self) -> None:
        self._log: Array | None = None
        self._ticks: list[int] = []
        self._next = 0
        self.record: Any = None  # newest
        self.tick = -1  # of its delivery

    def feed(self, log: Array) -> None:
        """Add a window's messages."""
        self._log, self._ticks, self._next = log, log["tick"].tolist(), 0

    def advance(self, tick: int) -> int:
        """Go on to the messages delivered at ``tick`` or before; returns how many there were."""
        begin, ticks = self._next, self._ticks
        while self._next < len(ticks) and ticks[self._next] <= tick:
            self._next += 1
        if self._next > begin and self._log is not None:
            self.record, self.tick = self._log["data"][self._next - 1], ticks[self._next - 1]
        return self._next - begin
