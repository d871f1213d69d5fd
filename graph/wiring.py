"""The graph: configured nodes, and which port speaks on which topic; everything that can be checked before a start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from graph import schedule
from graph.config import did_you_mean
from graph.errors import InputError
from graph.node import Input, Node, Output, Setup
from msgs.units import NS_PER_S


@dataclass(frozen=True)
class Instance:
    """One node of the graph: what it is, how it is configured, and the topic of each port."""

    name: str
    node: Node
    setup: Setup
    inputs: Mapping[str, str]  # topic by input port
    outputs: Mapping[str, str]  # topic by output port
    delayed: frozenset[str] = frozenset()  # input ports that take only what was delivered before the tick

    def first_tick(self, k: int, period_ns: int) -> int:
        """The tick at which step ``k`` fires."""
        return schedule.first_tick(k, self.setup.rate_hz, period_ns)

    def step_at_or_after(self, tick: int, period_ns: int) -> int:
        """The first step whose tick is ``tick`` or later."""
        return schedule.step_at_or_after(tick, self.setup.rate_hz, period_ns)


@dataclass(frozen=True)
class Topic:
    """A topic: its message type, who publishes it from which port, and who listens on which ports."""

    name: str
    message: type
    publisher: Instance
    output: Output
    subscribers: tuple[tuple[Instance, Input], ...]

    @property
    def latency_ns(self) -> int:
        """Time from publication to delivery."""
        return self.publisher.setup.latency_ns.get(self.output.name, 0)


@dataclass(frozen=True)
class Graph:
    """A checked graph. ``instances`` are in step order within a tick; ``topics`` in the order of the bag.

    ``delayed`` are the edges (topic, subscriber) that deliver at the next tick, which is what breaks a cycle.
    """

    period_ns: int
    instances: tuple[Instance, ...]
    topics: tuple[Topic, ...]
    delayed: frozenset[tuple[str, str]] = field(default_factory=frozenset)

    def instance(self, name: str) -> Instance:
        """The node of that name."""
        return next(i for i in self.instances if i.name == name)

    def topic(self, name: str) -> Topic:
        """The topic of that name."""
        return next(t for t in self.topics if t.name == name)

    @cached_property
    def leaves(self) -> frozenset[str]:
        """Nodes that no node of the loop waits for: they take their input window by window."""
        leaves: set[str] = set()
        for instance in reversed(self.instances):
            listeners = {s.name for t in self.topics if t.publisher is instance for s, _ in t.subscribers}
            if instance.inputs and listeners <= leaves:
                leaves.add(instance.name)
        return frozenset(leaves)


def connect(
    instances: Sequence[Instance],
    period_ns: int,
    delayed: Sequence[tuple[str, str]] = (),
    order: Sequence[str] = (),
) -> Graph:
    """Wire configured ``instances`` and check the result.

    ``delayed`` are (node, input port) pairs that deliver one tick later; ``order`` lists the first topics of the bag.
    Raises InputError naming both ports, nodes and types, and the valid names where one is unknown.
    """
    for instance in instances:
        _check_ports(instance)
        _check_rate(instance, period_ns)
    delayed_edges = _delayed_edges(instances, delayed)
    instances = [
        replace(i, delayed=frozenset(p for p, topic in i.inputs.items() if (topic, i.name) in delayed_edges))
        for i in instances
    ]
    publishers = _publishers(instances)
    for instance in instances:
        for port in instance.node.inputs:
            _check_input(instance, port, publishers, delayed_edges, period_ns)
    ordered = _step_order(instances, publishers, delayed_edges)
    names = _topic_order(ordered, publishers, order)
    topics = []
    for name in names:
        publisher, output = publishers[name]
        listeners = tuple((i, p) for i in ordered for p in i.node.inputs if i.inputs[p.name] == name)
        topics.append(Topic(name, output.message, publisher, output, listeners))
    return Graph(period_ns, tuple(ordered), tuple(topics), frozenset(delayed_edges))


def _check_ports(instance: Instance) -> None:
    for kind, given, ports in (
        ("input", instance.inputs, [p.name for p in instance.node.inputs]),
        ("output", instance.outputs, [o.name for o in instance.node.outputs]),
    ):
        for name in given:
            if name not in ports:
                valid = ", ".join(ports) or "none"
                raise InputError(
                    f"node {instance.name} ({instance.node.where}) has no {kind} port {name}"
                    f"{did_you_mean(name, ports)}; its {kind} ports: {valid}"
                )
    missing = [p.name for p in instance.node.inputs if p.name not in instance.inputs]
    if missing:
        raise InputError(
            f"node {instance.name} ({instance.node.where}): input {missing[0]} is not connected; "
            f"name its topic under inputs: {{{missing[0]}: TOPIC}}"
        )


def _check_rate(instance: Instance, period_ns: int) -> None:
    rate = instance.setup.rate_hz
    if rate <= 0 or rate * period_ns > NS_PER_S:
        raise InputError(
            f"node {instance.name}: rate {rate} Hz is not between 1 Hz and the tick rate of {NS_PER_S // period_ns} Hz"
        )


def _publishers(instances: Sequence[Instance]) -> dict[str, tuple[Instance, Output]]:
    publishers: dict[str, tuple[Instance, Output]] = {}
    for instance in instances:
        for output in instance.node.outputs:
            name = instance.outputs[output.name]
            if name in publishers:
                other, port = publishers[name]
                raise InputError(
                    f"topic {name} has two publishers: {other.name}.{port.name} ({port.message.__name__}) and "
                    f"{instance.name}.{output.name} ({output.message.__name__}); give one of them another topic"
                )
            publishers[name] = (instance, output)
    return publishers


def _delayed_edges(instances: Sequence[Instance], delayed: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
    by_name = {i.name: i for i in instances}
    edges = set()
    for node, port in delayed:
        if node not in by_name:
            raise InputError(
                f"delayed: {node}.{port}: no node {node}{did_you_mean(node, by_name)}; nodes: {_list(by_name)}"
            )
        if port not in by_name[node].inputs:
            raise InputError(
                f"delayed: {node}.{port}: node {node} has no input {port}{did_you_mean(port, by_name[node].inputs)}; "
                f"its inputs: {_list(by_name[node].inputs)}"
            )
        edges.add((by_name[node].inputs[port], node))
    return edges


def _check_input(
    instance: Instance,
    port: Input,
    publishers: Mapping[str, tuple[Instance, Output]],
    delayed: set[tuple[str, str]],
    period_ns: int,
) -> None:
    name = instance.inputs[port.name]
    here = f"{instance.name}.{port.name}"
    if name not in publishers:
        raise InputError(
            f"input {here} ({port.message.__name__}) listens on topic {name}, which nobody publishes"
            f"{did_you_mean(name, publishers)}; topics: {_list(publishers)}"
        )
    publisher, output = publishers[name]
    there = f"{publisher.name}.{output.name}"
    if output.message is not port.message:
        raise InputError(
            f"topic {name}: output {there} publishes {output.message.__name__}, "
            f"but input {here} expects {port.message.__name__}"
        )
    if port.mode == "newest":
        latent = publisher.setup.latency_ns.get(output.name, 0) > 0
        if output.optional or latent or (name, instance.name) in delayed:
            raise InputError(
                f"input {here} needs a {port.message.__name__} at its first step, but {there} may not have delivered "
                f"one (it is optional, delayed or has a latency); declare the port as New[{port.message.__name__}]"
            )


def _step_order(
    instances: Sequence[Instance],
    publishers: Mapping[str, tuple[Instance, Output]],
    delayed: set[tuple[str, str]],
) -> list[Instance]:
    """Producers before consumers; where wiring leaves the order open, that of the launch file."""
    waiting, ordered = list(instances), []
    done: set[str] = set()
    while waiting:
        ready = next((i for i in waiting if not _needs(i, publishers, delayed) - done), None)
        if ready is None:
            raise InputError(
                f"a cycle with no delay: {_cycle(waiting, publishers, delayed)}; list one of these inputs under delayed"
            )
        waiting.remove(ready)
        ordered.append(ready)
        done.add(ready.name)
    return ordered


def _needs(
    instance: Instance, publishers: Mapping[str, tuple[Instance, Output]], delayed: set[tuple[str, str]]
) -> set[str]:
    topics = instance.inputs.values()
    return {publishers[t][0].name for t in topics if (t, instance.name) not in delayed}


def _cycle(
    waiting: Sequence[Instance],
    publishers: Mapping[str, tuple[Instance, Output]],
    delayed: set[tuple[str, str]],
) -> str:
    stuck = {i.name: i for i in waiting}
    path: list[str] = []
    links: list[str] = []
    here = waiting[0]
    while here.name not in path:
        path.append(here.name)
        port, topic = next(
            (p, t) for p, t in here.inputs.items() if publishers[t][0].name in stuck and (t, here.name) not in delayed
        )
        links.append(f"{here.name}.{port} <- {publishers[topic][0].name}")
        here = publishers[topic][0]
    return ", ".join(links[path.index(here.name) :])


def _topic_order(
    ordered: Sequence[Instance], publishers: Mapping[str, tuple[Instance, Output]], first: Sequence[str]
) -> list[str]:
    names = [i.outputs[o.name] for i in ordered for o in i.node.outputs]
    for name in first:
        if name not in publishers:
            raise InputError(f"order: no topic {name}{did_you_mean(name, names)}; topics: {_list(names)}")
        if first.count(name) > 1:
            raise InputError(f"order: topic {name} stands there {first.count(name)} times; name it once")
    return [*first, *(n for n in names if n not in first)]


def _list(names: Any) -> str:
    return ", ".join(names) or "none"
