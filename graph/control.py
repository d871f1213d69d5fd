"""What may be asked of a running session from outside, and how it is obeyed: the same in every runner.

A request is a JSON object such as ``{"kind": "step", "ticks": 10}``. The reply is ``{"ok": true, "tick": ..., "time_s":
..., "paused": ..., "rate": ...}``, or ``{"ok": false, "error": ...}``. A pause holds at ``tick``, a step is answered
when every node has done it or a pause ended it, an order takes effect at ``tick``. None of it changes what is computed,
except an order to a node, which the node's own messages record.
"""

from __future__ import annotations

import json
import math
import queue
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from graph.config import Config, did_you_mean, parse
from graph.errors import InputError
from graph.node import Live
from graph.rate import read_rate
from graph.service import Clock
from graph.wiring import SECOND, Graph

Respond = Callable[[dict[str, Any]], None]
Rows = list[list[float]]
LARGEST_REQUEST = 64 * 1024
"""Bytes of a request that are read."""
POLL_S = 0.1
"""How often a held run in this process looks for Ctrl-C."""


class State(Config):
    """Asks how things stand."""

    kind: Literal["state"]


class Pause(Config):
    """Holds the run where it is."""

    kind: Literal["pause"]


class Resume(Config):
    """Lets a held run go on."""

    kind: Literal["resume"]


class Step(Config):
    """Lets a run go on for some ticks, and holds it there."""

    kind: Literal["step"]
    ticks: int = Field(default=1, ge=1, le=10_000_000, description="ticks to go on")


class Rate(Config):
    """Paces the run."""

    kind: Literal["rate"]
    factor: float | Literal["max"] = Field(description="simulated seconds per second, or max")


class Stop(Config):
    """Ends the run."""

    kind: Literal["stop"]


class Order(Config):
    """Tells a node something."""

    kind: Literal["order"]
    node: str = Field(description="name of the node")
    order: dict[str, Any] = Field(description="what the node is told")


class Request(Config):
    """Any request."""

    request: Annotated[State | Pause | Resume | Step | Rate | Stop | Order, Field(discriminator="kind")]


def read_request(data: bytes) -> Any:
    """A request as it came over the wire. Raises InputError when it is none."""
    if len(data) > LARGEST_REQUEST:
        raise InputError(f"a request of {len(data)} bytes; must be at most {LARGEST_REQUEST}")
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        raise InputError("a request must be a JSON object") from None
    if not isinstance(value, dict):
        raise InputError("a request must be a JSON object")
    return value


class Control:
    """Decides how far a run may go. Belongs to the thread that holds the clock."""

    def __init__(self, graph: Graph, clock: Clock | None, ticks: int, apply: Callable[[str, int, Rows], None]) -> None:
        """``apply`` takes an order's rows to a node, before anything at that tick is computed."""
        self._graph = graph
        self._clock = clock
        self._ticks = ticks
        self._apply = apply
        self._live = {i.name: i.setup.live for i in graph.instances if i.setup.live is not None}
        self._told: dict[str, list[tuple[int, Rows]]] = {name: [] for name in self._live}
        self._waiting: list[tuple[int, Respond]] = []
        self._hold: int | None = None  # the tick to hold at
        self.stopped = False

    def limit(self, granted: int) -> int:
        """The tick up to which time may be granted, where ``granted`` is what has been."""
        return self._ticks if self._hold is None else max(self._hold, granted)

    def window(self, largest: int) -> int:
        """How many ticks to go on before the next look: the clock's window when it paces, else ``largest``."""
        return largest if self._clock is None or math.isinf(self._clock.rate) else min(largest, self._clock.window)

    def ahead(self, granted: int) -> float:
        """Wall time until the window from ``granted`` on may begin, s; 0 when it may now. A step is not paced."""
        return 0.0 if self._clock is None or self._hold is not None else self._clock.ahead(granted)

    def obey(self, request: Any, granted: int, respond: Respond) -> None:
        """Do what is asked where the run stands at ``granted``; ``respond`` gets the reply, now or once it is done."""
        try:
            asked = parse(Request, {"request": request}, "request").request
            until = self._do(asked, granted)
        except InputError as error:
            respond({"ok": False, "error": str(error).replace("request: request", "request")})
            return
        if until is None:
            respond(self._reply(granted))
        else:
            self._waiting.append((until, respond))

    def _do(self, asked: Any, granted: int) -> int | None:
        """Returns the tick that has to be reached before the reply."""
        if isinstance(asked, Pause):
            self._hold = granted
            self._waiting = [(min(until, granted), respond) for until, respond in self._waiting]
        elif isinstance(asked, Resume):
            self._hold = None
            if self._clock is not None:
                self._clock.set_rate(self._clock.rate)  # the time it was held is not to be caught up with
        elif isinstance(asked, Step):
            self._hold = min(self._ticks, max(granted, self._hold or 0) + asked.ticks)
            return self._hold
        elif isinstance(asked, Rate):
            self._set_rate(asked.factor)
        elif isinstance(asked, Stop):
            self.stopped = True
        elif isinstance(asked, Order):
            self._order(asked, granted)
        return None

    def _set_rate(self, factor: float | str) -> None:
        rate = read_rate(factor, "request: factor")
        if self._clock is None:
            raise InputError("request: this run has no clock to pace it")
        self._clock.set_rate(rate)

    def _order(self, asked: Order, granted: int) -> None:
        live: Live | None = self._live.get(asked.node)
        if live is None:
            valid = ", ".join(self._live) or "none"
            hint = did_you_mean(asked.node, self._live)
            raise InputError(f"request: node: {asked.node} takes no orders{hint} (valid: {valid})")
        now, told = granted * self._graph.period_ns, self._told[asked.node]
        rows = live.parse(asked.order, now, told)
        if len(rows) + sum(len(earlier) for _, earlier in told) > live.capacity:
            raise InputError(f"request: node {asked.node} takes at most {live.capacity} orders in a run")
        told.append((now, rows))
        self._apply(asked.node, granted, rows)

    def reached(self, tick: int) -> None:
        """Everything before ``tick`` is done: answer those who waited for it."""
        for until, respond in [w for w in self._waiting if w[0] <= tick]:
            self._waiting.remove((until, respond))
            respond(self._reply(tick))

    def over(self, tick: int) -> None:
        """The run has ended before ``tick``: answer everybody."""
        for _, respond in self._waiting:
            respond(self._reply(tick))
        self._waiting.clear()

    def _reply(self, tick: int) -> dict[str, Any]:
        rate = math.inf if self._clock is None else self._clock.rate
        return {
            "ok": True,
            "tick": tick,
            "time_s": tick * self._graph.period_ns / SECOND,
            "paused": self._hold is not None,
            "rate": "max" if math.isinf(rate) else rate,
        }


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


Steer = Callable[[Mapping[str, Any], Respond], None]
"""Asks something of the run a sink belongs to; the reply comes from another thread."""
