"""A sink that never returns: from its end, or from a take."""

import threading
from collections.abc import Mapping
from typing import Literal

from graph.config import Config
from graph.memory import Array
from graph.service import Sink


class Options(Config):
    """Where it hangs."""

    where: Literal["take", "end"] = "end"


class StuckSink(Sink):
    """Takes everything, or what comes before half a second, then hangs."""

    def take(self, end: int, logs: Mapping[str, Array]) -> None:
        """Hang behind tick 500, if that is where."""
        if self.context.options.where == "take" and end > 500:
            threading.Event().wait()

    def end(self, tick: int, counts: Mapping[str, int]) -> str | None:
        """Hang, if that is where."""
        if self.context.options.where == "end":
            threading.Event().wait()
        return None

    def close(self) -> None:
        """Nothing to close."""
