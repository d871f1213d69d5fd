"""From a resolved launch file and a world to a checked graph of configured nodes, sinks and a clock."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any, NamedTuple

from graph.config import Config, did_you_mean, parse
from graph.derived import Derivation, Derived, derive
from graph.errors import InputError
from graph.importing import imported, in_a_line
from graph.launch import Launch, NodeEntry
from graph.memory import NodeMemory
from graph.node import Context, Node, NodeError, Setup
from graph.provenance import Provenance, provenance
from graph.service import Clock, ClockOptions, Sink
from graph.wiring import Graph, Instance, connect
from msgs.units import NS_PER_S

LONGEST_LATENCY_S = 60
"""Of an output: what is on its way is kept in memory."""


class NoOptions(Config):
    """A node without options."""


class SinkPart(NamedTuple):
    """A sink of a session, ready to be opened."""

    kind: type[Sink]
    options: Any


class ClockPart(NamedTuple):
    """The clock of a session, ready to be made."""

    name: str
    kind: type[Clock]
    options: ClockOptions


@dataclass(frozen=True)
class Session:
    """Everything a runner needs: the graph, its sinks and clock, the length of the run, and what the bag carries."""

    launch: Launch
    graph: Graph
    sinks: Mapping[str, SinkPart]  # by name
    clock: ClockPart | None
    ticks: int  # of the run, both ends included
    provenance: Provenance
    derived: tuple[Derived, ...] = ()  # topics computed from the recorded ones


def build(launch: Launch, world: Any, configured: Mapping[str, Setup] | None = None) -> Session:
    """Configure and wire every node of ``launch`` for ``world``; ``configured`` replace those of nodes by name.

    Raises InputError; nothing is started.
    """
    period_ns = NS_PER_S // world.scenario.sim.physics_rate_hz
    instances: list[Instance] = []
    sinks: dict[str, SinkPart] = {}
    clock: ClockPart | None = None
    derivations: dict[str, tuple[type[Derivation], Any]] = {}
    for name, entry in launch.nodes.items():
        module = imported(f"node {name}", entry.node)
        options = options_of(launch, name)
        part = _part(name, module, world, options)
        if entry.external and not isinstance(part, Node):
            raise InputError(f"launch {launch.name}: nodes.{name}.external: {entry.node} is no node that steps")
        if isinstance(part, Node):
            instance = _instance(name, entry, module, part, Context(name, world.seed, options, world))
            given = (configured or {}).get(name)
            instances.append(instance if given is None else replace(instance, setup=given))
            continue
        _check_ports(launch, name, part)
        if issubclass(part, Clock):
            if clock is not None:
                raise InputError(f"launch {launch.name}: nodes.{name}: {clock.name} is a clock already; a run has one")
            if not isinstance(options, ClockOptions):
                raise InputError(f"node {name}: Options of {entry.node} must derive from graph.service.ClockOptions")
            clock = ClockPart(name, part, options)
        elif issubclass(part, Derivation):
            derivations[name] = (part, options)
        else:
            sinks[name] = SinkPart(part, options)
    _check_remaps(launch, {i.name: i.node for i in instances} | {n: kind for n, (kind, _) in derivations.items()})
    if not instances:
        raise InputError(f"launch {launch.name}: nodes: none of them steps, so there is nothing to run")
    if launch.order_included:
        published = {topic for i in instances for topic in i.outputs.values()}
        launch = replace(launch, order=tuple(topic for topic in launch.order if topic in published))
    try:
        graph = connect(instances, period_ns, launch.delayed, launch.order)
    except InputError as error:
        raise InputError(f"launch {launch.name}: {error}") from None
    for instance in graph.instances:
        NodeMemory(instance, period_ns)  # which refuses parameters and states that are none
    ticks = round(world.scenario.duration_s * NS_PER_S) // period_ns + 1
    derived = tuple(
        _derived(name, launch.nodes[name], kind, options, graph, world)
        for name, (kind, options) in derivations.items()
        if kind.wanted(world)
    )
    return Session(launch, graph, sinks, clock, ticks, provenance(launch, graph, world, derived), derived)


def _part(name: str, module: ModuleType, world: Any, options: Any) -> Any:
    """What a node's module declares: the node made for this world, else its one Node, Clock or Sink.

    ``node_for`` takes the world, and the node's options when it has a second parameter.
    """
    if hasattr(module, "node_for"):
        given = (world, options)[: len(inspect.signature(module.node_for).parameters)]
        try:
            return module.node_for(*given)
        except InputError:
            raise
        except NodeError as error:
            raise InputError(f"node {name}: {error}") from None
        except (Exception, SystemExit) as error:
            raise InputError(f"node {name}: node_for of {module.__name__} fails: {in_a_line(error)}") from None
    own = [
        value
        for value in vars(module).values()
        if (isinstance(value, Node) and value.module == module.__name__)
        or (
            inspect.isclass(value)
            and issubclass(value, (Clock, Derivation, Sink))
            and value.__module__ == module.__name__
            and not inspect.isabstract(value)
        )
    ]
    if len(own) != 1:
        raise InputError(
            f"node {name}: module {module.__name__} must declare one @node, Sink, Derivation or Clock, has {len(own)}"
        )
    return own[0]


def _setup(node: Node, module: ModuleType, context: Context) -> Setup:
    if not hasattr(module, "configure"):
        raise InputError(f"node {context.name}: module {module.__name__} has no configure(context) -> Setup")
    where = f"node {context.name}: configure of {module.__name__}"
    try:
        setup = module.configure(context)
    except InputError:
        raise
    except (Exception, SystemExit) as error:
        raise InputError(f"{where} fails: {in_a_line(error)}") from None
    if not isinstance(setup, Setup):
        raise InputError(f"{where} returned a {type(setup).__name__}, not a Setup")
    _check_setup(where, setup, [output.name for output in node.outputs])
    return setup


def _check_setup(where: str, setup: Setup, outputs: Sequence[str]) -> None:
    for port in setup.latency_ns:
        if port not in outputs:
            valid = f"outputs: {', '.join(outputs) or 'none'}"
            raise InputError(f"{where}: latency_ns: no output {port}{did_you_mean(port, outputs)}; {valid}")
    numbers = {"rate_hz": setup.rate_hz, **{f"latency_ns of {port}": ns for port, ns in setup.latency_ns.items()}}
    for what, value in numbers.items():
        if type(value) is not int or value < 0:
            raise InputError(f"{where}: {what}: {value!r} is not a whole number")
    for port, latency in setup.latency_ns.items():
        if latency > LONGEST_LATENCY_S * NS_PER_S:
            raise InputError(f"{where}: latency_ns of {port}: {latency} ns is more than {LONGEST_LATENCY_S} s")


def setups(session: Session, world: Any) -> dict[str, Setup]:
    """Every node of ``session`` configured for a world that differs from its own in the seed alone."""
    configured = {}
    for instance in session.graph.instances:
        name, entry = instance.name, session.launch.nodes[instance.name]
        module = imported(f"node {name}", entry.node)
        configured[name] = _setup(
            instance.node, module, Context(name, world.seed, options_of(session.launch, name), world)
        )
    return configured


def options_of(launch: Launch, name: str) -> Any:
    """The options of node ``name``, as its module declares them. Raises InputError."""
    module = imported(f"node {name}", launch.nodes[name].node)
    where = f"launch {launch.name}: nodes.{name}.options"
    return parse(getattr(module, "Options", NoOptions), launch.nodes[name].options, where)


def _instance(name: str, entry: NodeEntry, module: ModuleType, node: Node, context: Context) -> Instance:
    setup = _setup(node, module, context)
    inputs = {port.name: entry.topic(entry.inputs, port.name) for port in node.inputs}
    outputs = {port.name: entry.topic(entry.outputs, port.name) for port in node.outputs}
    return Instance(name, node, setup, {**entry.inputs, **inputs}, {**entry.outputs, **outputs})


def _check_ports(launch: Launch, name: str, part: type) -> None:
    """Raises InputError for ports that a part without steps does not have: it takes every topic, or none."""
    entry = launch.nodes[name]
    for key, ports in (("inputs", {} if issubclass(part, Derivation) else entry.inputs), ("outputs", entry.outputs)):
        if ports:
            raise InputError(f"launch {launch.name}: nodes.{name}.{key}: {entry.node} has no {key} to be wired")


def _check_remaps(launch: Launch, kinds: Mapping[str, Node | type[Derivation]]) -> None:
    """Raises InputError for a topic to be remapped that no port is on."""
    used: set[str] = set()
    there: dict[str, None] = {}
    for name, kind in kinds.items():
        entry = launch.nodes[name]
        inputs = [p.name for p in kind.inputs] if isinstance(kind, Node) else list(kind.INPUTS)
        outputs = [p.name for p in kind.outputs] if isinstance(kind, Node) else []
        topics = [entry.inputs.get(p, p) for p in inputs] + [entry.outputs.get(p, p) for p in outputs]
        there |= dict.fromkeys(topics)
        used |= entry.remap.keys() & topics
    for topic in (topic for entry in launch.nodes.values() for topic in entry.remap if topic not in used):
        raise InputError(
            f"launch {launch.name}: remap: no port is on topic {topic}{did_you_mean(topic, there)}; "
            f"topics: {', '.join(there)}"
        )


def _derived(name: str, entry: NodeEntry, kind: type[Derivation], options: Any, graph: Graph, world: Any) -> Derived:
    wired = {port: entry.topic(entry.inputs, port) for port in kind.INPUTS}
    return derive(name, kind, entry.inputs, wired, graph, options, world)
