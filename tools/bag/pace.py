"""Messages of a bag at their times."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graph.bag import Message

LOOK_S = 0.05
"""Longest time between two looks at the keyboard, s."""


class Pace:
    """Gives out messages at their times, at a rate, with pauses."""

    def __init__(self, rate: float, pressed: Callable[[float], bool], paused: bool) -> None:
        """``pressed(seconds)`` waits at most that long for a key and says whether one was pressed."""
        self._rate = rate
        self._pressed = pressed
        self._paused = paused

    def of(self, messages: Sequence[Message]) -> Iterator[Message]:
        """Each message once it is due; one that is late follows at once."""
        first = messages[0].log_time
        begun = time.monotonic()
        for message in messages:
            due = (message.log_time - first) * 1e-9 / self._rate
            while True:
                now = time.monotonic() - begun
                if not self._paused and now >= due:
                    break
                if self._pressed(LOOK_S if self._paused else min(LOOK_S, due - now)):
                    self._paused = not self._paused
                if self._paused:
                    begun += time.monotonic() - begun - now  # a pause moves everything behind it
            yield message
