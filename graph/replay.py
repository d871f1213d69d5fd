"""A recorded run, computed again: one node from its recorded inputs, or all of it from its configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graph.bag import Bag
from graph.bag.column import Column
from graph.bag.marks import CUT, is_settled
from graph.bag.ros2msg import dtype_of
from graph.build import Session
from graph.errors import InputError
from graph.inline import InlineRun
from graph.memory import Array, Log, NodeMemory, capacity, entry_of
from graph.wiring import Graph, Instance
from msgs.layout import record_dtype
from msgs.message import log_dtype
from msgs.record import read
from msgs.schema import name_of
from msgs.units import NS_PER_S

WINDOW = 1000
"""Ticks between two looks at what a replayed node has said."""


@dataclass(frozen=True)
class Recording:
    """What was said on each topic, as (delivery tick, record), before tick ``end``: the first not fully recorded."""

    graph: Graph
    end: int
    logs: Mapping[str, Array]

    def messages(self, logs: Mapping[str, Array] | None = None) -> dict[str, Column]:
        """``logs`` (the recorded ones by default) before the end, ready to be compared."""
        return {name: _messages(log, self.end, self.graph.period_ns) for name, log in (logs or self.logs).items()}


def recorded(bag: Bag, session: Session) -> Recording:
    """The messages of ``bag``, which the graph of ``session`` recorded.

    A run that ended early is read up to its last complete tick. Raises InputError when the bag does not hold what a run
    of this graph records: a topic is absent or has other fields, times are no ticks of the run.
    """
    graph = session.graph
    _check_heads(bag, [*(t.name for t in graph.topics), *(t.name for d in session.derived for t in d.topics)])
    cut = bag.metadata.get(CUT)
    if cut is not None and cut.get("from_ns") != "0":
        raise InputError(
            f"{bag.path}: is a part of a bag without its beginning, from which its nodes would have to be stepped"
        )
    logs = {
        t.name: _log(bag, t.name, t.message, graph.period_ns, session.ticks)
        for t in graph.topics
        if t.name in bag.counts
    }
    last = max((int(log["tick"][-1]) for log in logs.values() if len(log)), default=-1)
    # Without the recorder's last word the last tick may be recorded in part.
    end = last + 1 if is_settled(bag.metadata) else last
    if end <= 0:
        raise InputError(f"{bag.path}: holds no complete tick of a run")
    return Recording(graph, end, logs)


def _check_heads(bag: Bag, topics: Sequence[str]) -> None:
    """Raises InputError when what stands before a message is not as a recorder writes it."""
    for topic in topics:
        if topic not in bag.counts:
            continue
        heads, where = bag.heads(topic), f"{bag.path}: topic {topic}"
        if not np.array_equal(heads["sequence"], np.arange(len(heads))):
            raise InputError(f"{where}: its messages are not numbered from 0 without a gap")
        if (heads["publish_time"] != heads["log_time"]).any():
            raise InputError(f"{where}: has a message that was published at another time than it was delivered at")


def _log(bag: Bag, topic: str, message: type, period_ns: int, ticks: int) -> Array:
    schema = bag.schemas[topic]
    where = f"{bag.path}: topic {topic}"
    if schema.name != name_of(message) or dtype_of(schema) != record_dtype(message):
        raise InputError(
            f"{where}: was recorded as another {schema.name or 'type'} than the {name_of(message)} of this version"
        )
    channel = bag.channel(topic, record_dtype(message))
    times = channel["log_time"]
    if len(times) and (times[0] < 0 or (times % period_ns).any() or (times[1:] < times[:-1]).any()):
        raise InputError(f"{where}: its times are not ticks of {period_ns} ns in order: this is no bag of one run")
    if len(times) and times[-1] // period_ns >= ticks:
        raise InputError(f"{where}: has a message at {times[-1] / NS_PER_S:g} s, beyond the end of the run")
    log = np.zeros(len(times), log_dtype(message))
    log["tick"] = times // period_ns
    _opaque(log)["data"] = channel["data"].view(np.dtype((np.void, record_dtype(message).itemsize)))
    return log


def _opaque(log: Array) -> Array:
    """``log`` with its records as bytes, which numpy copies whole."""
    data = np.dtype((np.void, log.dtype["data"].itemsize))
    slot = {"names": ["tick", "data"], "formats": ["<i8", data], "offsets": [0, 8], "itemsize": log.dtype.itemsize}
    return log.view(np.dtype(slot))  # type: ignore[call-overload]


def _messages(log: Array, end: int, period_ns: int) -> Column:
    log = log[: np.searchsorted(log["tick"], end)]
    return Column.of(log["tick"] * period_ns, log["data"])


def step_alone(recording: Recording, name: str) -> dict[str, Array]:
    """What node ``name`` publishes when it is stepped from its first state with the recorded inputs, by topic.

    Raises InputError for a node that is not compiled, or whose inputs are not in the recording.
    """
    graph = recording.graph
    instance = graph.instance(name)
    if instance.node.python:
        raise InputError(
            f"node {name} ({instance.node.where}) is plain Python: only compiled nodes can be stepped again"
        )
    absent = [t for t in (*instance.inputs.values(), *instance.outputs.values()) if t not in recording.logs]
    if absent:
        raise InputError(f"node {name}: the bag has no topic {absent[0]}, which the node needs to be stepped again")
    inputs = [_input(recording, instance, instance.inputs[port.name]) for port in instance.node.inputs]
    topics = [graph.topic(instance.outputs[output.name]) for output in instance.node.outputs]
    outputs = {t.name: Log(t.message, capacity(t, graph, WINDOW)) for t in topics}
    memory = NodeMemory(instance, graph.period_ns)
    arrays = [*memory.arrays, *(a for log in (*inputs, *outputs.values()) for a in (log.ring, log.count))]
    entry, rate, period = entry_of(instance).callable, instance.setup.rate_hz, graph.period_ns
    parts: dict[str, list[Array]] = {topic: [] for topic in outputs}
    k, tick, end = 0, 0, 0
    while end < recording.end:
        end = min(end + WINDOW, recording.end)
        while tick < end:
            entry(tick, k * NS_PER_S // rate, *arrays)
            k += 1
            tick = instance.first_tick(k, period)
        for topic, log in outputs.items():
            parts[topic].append(log.take(end))
    return {topic: _joined(part, outputs[topic]) for topic, part in parts.items()}


def _input(recording: Recording, instance: Instance, topic: str) -> Log:
    """All of an input's messages at once: the entry takes each at the tick it was delivered at."""
    messages = recording.logs[topic]
    # One slot more than messages: what an entry reads before the first one is zero, as in a run.
    log = Log(recording.graph.topic(topic).message, len(messages) + 1)
    _opaque(log.ring)[: len(messages)] = _opaque(messages)
    log.count[0] = len(messages)
    return log


def heard_at(graph: Graph, topic: str, listener: Instance, delivered: Array) -> Array:
    """The first tick at which a step of ``listener`` can take each message ``delivered`` on ``topic`` then."""
    return delivered + 1 if (topic, listener.name) in graph.delayed else delivered


def _joined(parts: Sequence[Array], log: Log) -> Array:
    return np.concatenate([log.ring[:0], *parts])


def run_again(session: Session, end: int) -> dict[str, Array]:
    """What every node publishes before tick ``end`` when the whole graph runs again, by topic.

    Raises InputError when the graph has a node that is plain Python.
    """
    for instance in session.graph.instances:
        if instance.node.python:
            raise InputError(
                f"node {instance.name} ({instance.node.where}) is plain Python: it need not say the same again"
            )
    inline = InlineRun(session.graph, WINDOW)
    parts: dict[str, list[Array]] = {t.name: [] for t in session.graph.topics}

    def take(tick: int, logs: Mapping[str, Array]) -> None:
        for name, log in logs.items():
            parts[name].append(log)

    inline.run(end, take)
    return {name: _joined(part, inline.logs[name]) for name, part in parts.items()}


@dataclass(frozen=True)
class Given:
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
    while k > 0 and (k * NS_PER_S // rate + found.latency_ns + period - 1) // period > tick:
        k -= 1
    return instance, instance.first_tick(k, period)


def inputs_at(recording: Recording, instance: Instance, tick: int) -> list[Given]:
    """What ``instance`` had on each input port when it stepped at ``tick``."""
    given = []
    for port in instance.node.inputs:
        topic = instance.inputs[port.name]
        log = recording.logs.get(topic)
        ticks = np.empty(0) if log is None else heard_at(recording.graph, topic, instance, log["tick"])
        place = int(np.searchsorted(ticks, tick, side="right"))
        if log is None or place == 0:
            given.append(Given(port.name, topic, -1, None))
        else:
            given.append(Given(port.name, topic, int(ticks[place - 1]), read(log["data"][place - 1], port.message)))
    return given
