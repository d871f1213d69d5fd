"""Requests to a run in this process: handed in from other threads, obeyed between two windows."""

from __future__ import annotations

import queue
from collections.abc import Callable
from typing import Any

from graph.control import Control
from graph.requests import Respond

POLL_S = 0.1
"""How often a held run looks for Ctrl-C."""


class Desk:
    """Where requests to a run in this process are handed in from other threads."""

    def __init__(self) -> None:
        self._requests: queue.SimpleQueue[tuple[Any, Respond]] = queue.SimpleQueue()

    def ask(self, request: Any, respond: Respond) -> None:
        """Hand in a request; ``respond`` is called with the reply in the run's thread."""
        self._requests.put((request, respond))

    def serve(self, control: Control, tick: int, timeout: float = 0.0) -> None:
        """Answer what has been handed in, after waiting ``timeout`` for it."""
        wait = timeout
        while True:
            try:
                request, respond = self._requests.get(block=wait > 0.0, timeout=wait or None)
            except queue.Empty:
                return
            control.obey(request, tick, respond)
            wait = 0.0


class Helm:
    """Paces a run in this process and lets it be steered."""

    def __init__(self, control: Control, desk: Desk, window: int, asked_to_end: Callable[[], bool]) -> None:
        """``window``: the most ticks between two looks."""
        self._control = control
        self._desk = desk
        self._window = window
        self._asked_to_end = asked_to_end

    def next_window(self, tick: int) -> int:
        """The tick before which the window from ``tick`` on ends, once it may begin; ``tick`` when the run is over."""
        control = self._control
        control.reached(tick)
        self._desk.serve(control, tick)
        while not (control.stopped or self._asked_to_end()):
            control.reached(tick)  # a pause ends the step that others wait for
            limit, ahead = control.limit(tick), control.ahead(tick)
            if limit > tick and ahead <= 0.0:
                return min(tick + control.window(self._window), limit)
            self._desk.serve(control, tick, min(ahead, POLL_S) if limit > tick else POLL_S)
        return tick
