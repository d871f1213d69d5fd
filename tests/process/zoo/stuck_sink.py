"""A sink that never returns from its end."""

import threading
from collections.abc import Mapping

from graph.memory import Array
from graph.service import Sink


class StuckSink(Sink):
    """Takes everything, then hangs."""

    def take(self, end: int, logs: Mapping[str, Array]) -> None:
        """Nothing to do."""

    def end(self, tick: int, counts: Mapping[str, int]) -> str | None:
        """Hang."""
        threading.Event().wait()
        return None

    def close(self) -> None:
        """Nothing to close."""
