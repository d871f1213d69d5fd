"""A process's link to the launcher: what it reports, and the orders to end that reach it at any moment."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

GRACE_S = 2.0
"""How long a process that was told to end may take."""
START_GRACE_S = 0.3
"""How long it may take to be set up for that; opening a session may take half a minute when others are gone."""
RETRY_S = 0.01
STOP = "stop"
"""What the launcher says to end a process; its silence means the same."""


class Link:
    """The child's end of the pipe to the launcher.

    A thread of its own listens from the beginning, because the process itself may be blocked anywhere: when it is told
    to end, and when the launcher is gone, the thread calls ``on_stop``, and ends the process by force if that does not.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.stopping = False
        self._lock = threading.Lock()
        self._early: list[Any] = []
        self._on_message: Callable[[Any], None] = self._early.append
        self._on_stop: Callable[[], None] = lambda: None
        self._set_up = threading.Event()
        threading.Thread(target=self._listen, daemon=True).start()

    def listen(self, on_stop: Callable[[], None], on_message: Callable[[Any], None] = lambda message: None) -> None:
        """This process is set up: ``on_message`` takes whatever else the launcher says and has said already."""
        with self._lock:
            self._on_stop, self._on_message = on_stop, on_message
            for message in self._early:
                on_message(message)
        self._set_up.set()

    def _heard(self) -> Any:
        try:
            return self._connection.recv()
        except (EOFError, OSError):
            return STOP

    def _listen(self) -> None:
        while (message := self._heard()) != STOP:
            with self._lock:
                self._on_message(message)
        self.stopping = True
        timer = threading.Timer(GRACE_S, os._exit, (3,))
        timer.daemon = True
        timer.start()
        if not self._set_up.wait(START_GRACE_S):
            os._exit(3)  # it still opens its session, and has nothing that would have to be closed
        while True:
            try:
                self._on_stop()
                return
            except RuntimeError:  # zenoh's, while the process itself is amid a call of the session
                time.sleep(RETRY_S)

    def failed(self, node: str, text: str, trace: str = "") -> None:
        """Report that ``node`` failed, this process's own or whose fault it is."""
        self.send("failed", node, text, trace)

    def send(self, *message: Any) -> None:
        """Report to the launcher; a launcher that is gone hears nothing."""
        try:
            self._connection.send(message)
        except OSError:
            self.stopping = True
