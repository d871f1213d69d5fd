"""What a server of any viewer protocol does for the viewer node, and what it needs from it."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graph.errors import InputError
from nodes.view.offer import OfferedTopic, Wiring
from nodes.view.services import ServiceOffer

LOSSES_PERIOD_S = 1.0
TIME_PERIOD_S = 1.0 / 60.0
"""Wall time between two times told to viewers at least."""
REPEAT_S = 0.25
"""A subscriber gets the newest message of a topic at once when the last one is longer ago, in wall time."""
LINGER_S = 0.3
"""What is on its way when the run ends has that long to reach a viewer."""
RUN = "run"
"""Key of the status that says how the run stands."""
Values = dict[str, Any]


@dataclass(frozen=True)
class Content:
    """What is served under which name, and what viewers may ask.

    ``ask`` takes a request to the session and waits for its reply; ``write`` sets a parameter, and raises InputError
    for one that cannot be set; ``seek`` goes to another time, which only a recorded run can.
    """

    name: str
    topics: Sequence[OfferedTopic]
    wiring: Wiring
    services: Sequence[ServiceOffer]
    parameters: Callable[[], Values]
    write: Callable[[str, Any], None]
    ask: Callable[[Mapping[str, Any]], Values]
    start_ns: int
    end_ns: int
    seek: Callable[[int], None] | None = None


class Server(ABC):
    """Serves viewers. No method waits for a viewer; whatever cannot be sent in time is dropped."""

    url: str

    def __init__(self, content: Content) -> None:
        self._content = content
        self._newest: dict[int, tuple[int, bytes, float]] = {}  # by topic: time, data, and when it was sent
        self._losses_looked_at = -math.inf
        self._losses_told: Values | None = None
        self.standing = ("", "info")  # how the run stands, if that is said, and its level: for viewers that come late

    @abstractmethod
    def time(self, now_ns: int) -> None:
        """Say what simulated time it is. Not each time is sent, but the last one is."""

    def jumped(self, now_ns: int) -> None:  # noqa: B027 (the older protocol has no word for it)
        """Say that time goes on from elsewhere, without a viewer having asked for it."""

    def publish(self, topic: int, time_ns: int, data: bytes) -> None:
        """Send a message on a topic, by its index in the content."""
        # What was said but once, such as the run's configuration, is never too fresh to be sent again.
        self._newest[topic] = (time_ns, data, time.monotonic() if topic in self._newest else -math.inf)
        self.send(topic, time_ns, data)

    @abstractmethod
    def send(self, topic: int, time_ns: int, data: bytes) -> None:
        """Send a message to those who subscribed to its topic."""

    def missed(self, topic: int) -> tuple[int, bytes] | None:
        """Time and data of the newest message, for who subscribes now and would wait for the next one."""
        newest = self._newest.get(topic)
        return None if newest is None or time.monotonic() - newest[2] <= REPEAT_S else newest[:2]

    def values(self, names: Collection[str]) -> Values:
        """The parameters of those names, all of them without names."""
        return {n: value for n, value in self._content.parameters().items() if not names or n in names}

    def refusal(self, name: str, value: Any) -> str:
        """Set a parameter, waiting until it is; why it cannot be, empty when it was."""
        try:
            self._content.write(name, value)
        except InputError as error:
            return str(error)
        return ""

    def status(self, text: str, level: str = "info", key: str | None = None) -> None:
        """Show a text: level info, warning or error; a later one of the same key replaces it."""
        if key == RUN:
            self.standing = text, level
        self.send_status(text, level, key)

    @abstractmethod
    def send_status(self, text: str, level: str, key: str | None) -> None:
        """Send a text to every viewer."""

    @abstractmethod
    def changed(self, values: Values) -> None:
        """Parameters have these values now."""

    @abstractmethod
    def losses(self) -> Values:
        """What viewers missed because they were behind, as parameters that are 0 when nothing is."""

    def show_losses(self) -> None:
        """Tell viewers when they miss more than they knew of, now and then."""
        now = time.monotonic()
        if now - self._losses_looked_at < LOSSES_PERIOD_S:
            return
        self._losses_looked_at, losses = now, self.losses()
        if losses == self._losses_told:
            return
        self._losses_told = losses
        self.changed(losses)
        if any(losses.values()):
            told = ", ".join(f"{name} = {value}" for name, value in losses.items())
            self.status(f"a viewer does not keep up and misses messages: {told}", "warning", "losses")

    @abstractmethod
    def close(self) -> None:
        """Say goodbye."""
