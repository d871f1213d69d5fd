"""Requests to a run in this process: handed in from other threads, obeyed between two windows."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any

from graph.control import Control
from graph.requests import OVER, Respond, refusal

POLL_S = 0.1
"""How often a held run looks for Ctrl-C."""


class RequestQueue:
    """Where requests to a run in this process are handed in from other threads."""

    def __init__(self) -> None:
        self._requests: queue.SimpleQueue[tuple[Any, Respond]] = queue.SimpleQueue()
        self._closed = False
        self._lock = threading.Lock()

    def ask(self, request: Any, respond: Respond) -> None:
        """Hand in a request; ``respond`` is called with the reply, in the run's thread while it goes on."""
        with self._lock:
            if not self._closed:
                self._requests.put((request, respond))
                return
        respond(refusal(OVER))

    def close(self) -> None:
        """The run is over: whatever is asked now, or has not been answered, is answered with that."""
        with self._lock:
            self._closed = True
        while not self._requests.empty():
            _, respond = self._requests.get()
            respond(refusal(OVER))

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


class Pacer:
    """Paces a run in this process and lets it be steered."""

    def __init__(self, control: Control, requests: RequestQueue, window: int, asked_to_end: Callable[[], bool]) -> None:
        """``window``: the most ticks between two looks."""
        self._control = control
        self._requests = requests
        self._window = window
        self._asked_to_end = asked_to_end

    def next_window(self, tick: int) -> int:
        """The tick before which the window from ``tick`` on ends, once it may begin; ``tick`` when the run is over."""
        control = self._control
        control.reached(tick)
        self._requests.serve(control, tick)
        while not (control.stopped or self._asked_to_end()):
            control.reached(tick)  # a pause ends the step that others wait for
            limit, ahead = control.limit(tick), control.ahead(tick)
            if limit > tick and ahead <= 0.0:
                return min(tick + control.window(self._window), limit)
            self._requests.serve(control, tick, min(ahead, POLL_S) if limit > tick else POLL_S)
        return tick
