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
RETRY_S = 0.01


class Link:
    """The child's end of the pipe to the launcher.

    A thread of its own listens, because the process itself may be blocked anywhere: on an order to end, and when the
    launcher is gone, it calls ``on_stop``, and ends the process by force if that does not.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.stopping = False
        self._on_stop: Callable[[], None] = lambda: None
        self._on_message: Callable[[Any], None] = lambda message: None

    def listen(self, on_stop: Callable[[], None], on_message: Callable[[Any], None] = lambda message: None) -> None:
        """Start listening; ``on_message`` takes whatever else the launcher says."""
        self._on_stop, self._on_message = on_stop, on_message
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        while True:
            try:
                message = self._connection.recv()
            except (EOFError, OSError):
                message = "stop"
            if message == "stop":
                break
            self._on_message(message)
        self.stopping = True
        timer = threading.Timer(GRACE_S, os._exit, (3,))
        timer.daemon = True
        timer.start()
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
