"""How requests to a running session are obeyed: the same in every runner."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from graph.config import did_you_mean, parse
from graph.errors import InputError
from graph.node import Live
from graph.rate import read_rate, written
from graph.requests import Order, Pause, Rate, Request, Respond, Resume, Step, Stop, refusal
from graph.service import Clock
from graph.wiring import Graph
from msgs.units import NS_PER_S

Rows = list[list[float]]


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
            respond(refusal(str(error).replace("request: request", "request")))
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
            "time_s": tick * self._graph.period_ns / NS_PER_S,
            "paused": self._hold is not None,
            "rate": written(rate),
        }
