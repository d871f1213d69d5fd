"""The arrays that hold all state of a run: records and cursors of each node, a log ring of each topic."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from graph.entry import Entry, stored_dtype
from graph.errors import InputError
from graph.node import Node
from graph.wiring import Graph, Instance, Topic
from msgs.layout import fields_of
from msgs.message import log_dtype
from msgs.record import fill
from msgs.units import NS_PER_S

Array = np.ndarray[Any, Any]


class Log:
    """The messages of one topic: a ring of (delivery tick, record) and the count of messages since the start."""

    def __init__(self, message: type, capacity: int) -> None:
        self.ring: Array = np.zeros(1 << (capacity - 1).bit_length(), log_dtype(message))
        self.count = np.zeros(1, np.int64)
        self.taken = 0  # messages that ``take`` has given out
        self._buffer = self.buffer()

    def reset(self) -> None:
        """Forget every message; the slot before the first reads as zero again, as a new log's does."""
        self.count[0] = self.taken = 0
        self.ring[-1] = np.zeros((), self.ring.dtype)

    def delivered_before(self, end: int) -> int:
        """How many of all messages since the start were delivered before tick ``end``."""
        mask, stop = len(self.ring) - 1, int(self.count[0])
        while stop > 0 and self.ring[(stop - 1) & mask]["tick"] >= end:
            stop -= 1
        return stop

    def take(self, end: int) -> Array:
        """A copy of the messages delivered before tick ``end`` that were not taken yet, in order."""
        mask, begin = len(self.ring) - 1, self.taken
        stop = self.taken = self.delivered_before(end)
        if int(self.count[0]) - begin > mask + 1:
            raise OverflowError(f"a log of {mask + 1} messages was overwritten before it was taken")
        first, last = begin & mask, stop & mask
        if first < last or begin == stop:
            return self.ring[first:last].copy()
        return np.concatenate((self.ring[first:], self.ring[:last]))

    def buffer(self) -> memoryview:
        """The ring's bytes."""
        return self.ring.view(np.uint8).data

    def append_bytes(self, payload: bytes, position: int, count: int) -> None:
        """Add ``count`` slots that lie in ``payload`` from ``position``. ValueError when they are not all there."""
        size, length, begin = self.ring.itemsize, len(self.ring), int(self.count[0])
        if count > length or position + count * size > len(payload):
            raise ValueError(f"{count} slots do not fit")
        first = begin & (length - 1)
        here = min(count, length - first) * size
        self._buffer[first * size : first * size + here] = payload[position : position + here]
        rest = count * size - here
        if rest:
            self._buffer[:rest] = payload[position + here : position + here + rest]
        self.count[0] = begin + count


class NodeMemory:
    """One node's records: parameters P, state S, input cursors C, and L: the period and each output's latency."""

    def __init__(self, instance: Instance, period_ns: int) -> None:
        node, setup = instance.node, instance.setup
        self.P = _configured(instance, "params", node.params_type, setup.params)
        self.S = _configured(instance, "state", node.state_type, setup.state)
        self.C = np.zeros(max(1, len(node.inputs)), np.int64)
        self.L = np.array([period_ns, *(setup.latency_ns.get(o.name, 0) for o in node.outputs)], np.int64)

    @property
    def arrays(self) -> list[Array]:
        """In the order of an entry's parameters."""
        return [self.P, self.S, self.C, self.L]


def _configured(instance: Instance, what: str, cls: type, value: Any) -> Array:
    try:
        return record_of(cls, value)
    except (AttributeError, OverflowError, TypeError, ValueError) as error:
        raise InputError(f"node {instance.name}: configure: {what} is no {cls.__name__}: {error}") from None


def record_of(cls: type, value: Any) -> Array:
    """``value`` as a 1-element record array."""
    record: Array = np.zeros(1, stored_dtype(cls))
    if fields_of(cls):
        fill(record[0], cls, value)
    return record


def capacity(topic: Topic, graph: Graph, window: int) -> int:
    """How many messages of ``topic`` can wait at once: those of a window, of its slowest listener's step, in flight."""
    period = graph.period_ns
    intervals = [NS_PER_S // (listener.setup.rate_hz * period) + 1 for listener, _ in topic.subscribers]
    ticks = window + max(intervals, default=0) + topic.latency_ns // period + 2
    return ticks * topic.publisher.setup.rate_hz * period // NS_PER_S + 4


def logs_for(graph: Graph, window: int) -> dict[str, Log]:
    """A log for each topic, large enough for windows of ``window`` ticks."""
    return {t.name: Log(t.message, capacity(t, graph, window)) for t in graph.topics}


def entry_of(instance: Instance) -> Entry:
    """The entry of a node as latencies and delayed inputs shape it: the same object where these are the same."""
    return _entry(instance.node, frozenset(instance.setup.latency_ns), instance.delayed)


@cache
def _entry(node: Node, latent: frozenset[str], delayed: frozenset[str]) -> Entry:
    return Entry(node, latent, delayed)


def entry_arrays(instance: Instance, memory: NodeMemory, logs: Mapping[str, Log]) -> list[Array]:
    """The arrays an entry is called with, behind tick and t."""
    topics = [instance.inputs[p.name] for p in instance.node.inputs]
    topics += [instance.outputs[o.name] for o in instance.node.outputs]
    return [*memory.arrays, *(array for t in topics for array in (logs[t].ring, logs[t].count))]
