"""Whose step a recorded message comes from, and what that step had been given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graph.memory import Array
from graph.recording import Recording
from graph.schedule import delivery_tick, time_of
from graph.wiring import Graph, Instance
from msgs.record import read


@dataclass(frozen=True)
class InputSnapshot:
    """The newest message an input port had; ``value`` is None before the first."""

    port: str
    topic: str
    tick: int
    value: Any


def producer_of(graph: Graph, topic: str, tick: int) -> tuple[Instance, int]:
    """The node that published the message delivered on ``topic`` at ``tick``, and the tick it stepped at."""
    found = graph.topic(topic)
    instance, period = found.publisher, graph.period_ns
    rate = instance.setup.rate_hz
    k = max(0, instance.step_at_or_after(tick, period))
    while k > 0 and delivery_tick(time_of(k, rate), found.latency_ns, period) > tick:
        k -= 1
    return instance, instance.first_tick(k, period)


def inputs_at(recording: Recording, instance: Instance, tick: int) -> list[InputSnapshot]:
    """What ``instance`` had on each input port when it stepped at ``tick``."""
    given = []
    for port in instance.node.inputs:
        topic = instance.inputs[port.name]
        log = recording.logs.get(topic)
        ticks = np.empty(0) if log is None else heard_at(recording.graph, topic, instance, log["tick"])
        place = int(np.searchsorted(ticks, tick, side="right")) - 1
        if log is None or place < 0:
            given.append(InputSnapshot(port.name, topic, -1, None))
        else:
            given.append(InputSnapshot(port.name, topic, int(ticks[place]), read(log["data"][place], port.message)))
    return given


def heard_at(graph: Graph, topic: str, listener: Instance, delivered: Array) -> Array:
    """The first tick at which a step of ``listener`` can take each message ``delivered`` on ``topic`` then."""
    return delivered + 1 if (topic, listener.name) in graph.delayed else delivered
