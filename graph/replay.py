"""A recorded run, computed again: one node from its recorded inputs, or all of it from its configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from graph.build import Session
from graph.errors import InputError
from graph.inline import InlineRun
from graph.memory import Array, Log, NodeMemory, capacity, entry_of
from graph.recording import Recording, opaque
from graph.schedule import time_of
from graph.wiring import Instance

WINDOW = 1000
"""Ticks between two looks at what a replayed node has said."""


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
            entry(tick, time_of(k, rate), *arrays)
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
    opaque(log.ring)[: len(messages)] = opaque(messages)
    log.count[0] = len(messages)
    return log


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
