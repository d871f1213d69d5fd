"""A closed loop for tests: the nodes of a simulated flight in tick order, compiled into one when it is long."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numba
import numpy as np

from graph import loop
from graph.entry import Entry
from graph.memory import NodeMemory, entry_of, logs_for
from graph.node import Context
from graph.wiring import Graph, Instance, connect
from msgs.record import read
from msgs.units import NS_PER_S
from nodes import camera_oracle, fault_injector, imu, scorer, sim_fc, simulator, stack
from scenarios.world import World

MODULES = {
    "fault_injector": fault_injector,
    "simulator": simulator,
    "imu": imu,
    "camera_oracle": camera_oracle,
    "stack": stack,
    "sim_fc": sim_fc,
    "scorer": scorer,
}
WINDOW = 1000  # ticks
SHORT = 10_000  # ticks; interpreting the loop is then quicker than compiling it


@dataclass(frozen=True)
class Flight:
    """What was said on each topic."""

    messages: dict[str, np.ndarray]  # records by topic, in order
    graph: Graph
    ticks: int  # stepped

    def values(self, topic: str) -> list[Any]:
        """The messages of a topic as NamedTuples."""
        message = self.graph.topic(topic).message
        return [read(record, message) for record in self.messages[topic]]

    def field(self, topic: str, *path: str) -> np.ndarray:
        """One field of every message of a topic."""
        array = self.messages[topic]
        for name in path:
            array = array[name]
        return array

    def seconds(self, topic: str) -> np.ndarray:
        """The stamps of a topic's messages, s."""
        stamp = self.messages[topic]["header"]["stamp"]
        return stamp["sec"] + stamp["nanosec"] / NS_PER_S


def graph_of(world: World) -> Graph:
    """Every port on the topic of its own name."""
    instances = []
    for name, module in MODULES.items():
        node = module.node_for(world) if hasattr(module, "node_for") else getattr(module, name)
        setup = module.configure(Context(name, world.seed, None, world))
        inputs = {port.name: port.name for port in node.inputs}
        outputs = {port.name: port.name for port in node.outputs}
        instances.append(Instance(name, node, setup, inputs, outputs))
    return connect(instances, NS_PER_S // world.scenario.sim.physics_rate_hz, [("simulator", "rotor_command")])


def _entries(graph: Graph) -> dict[str, Entry]:
    entries = {f"step_{i.name}": entry_of(i) for i in graph.instances}
    for entry in entries.values():
        entry.compile()
    return entries


@cache
def _compiled(source: str, entries: tuple[tuple[str, Entry], ...]) -> Any:
    names: dict[str, Any] = {name: entry.dispatcher for name, entry in entries}
    exec(source, names)
    return numba.njit(names["run"], error_model="numpy")


def _compiled_loop(graph: Graph) -> Any:
    return _compiled(loop.source(graph), tuple(_entries(graph).items()))


def _interpreted_loop(graph: Graph) -> Any:
    names: dict[str, Any] = {name: entry.callable for name, entry in _entries(graph).items()}
    exec(loop.source(graph), names)
    return names["run"]


def fly(world: World, compiled: bool | None = None) -> Flight:
    """Fly until the verdict; a long flight in the compiled loop unless told otherwise."""
    graph = graph_of(world)
    ticks = round(world.scenario.duration_s * NS_PER_S) // graph.period_ns + 1
    long = ticks > SHORT if compiled is None else compiled
    run = _compiled_loop(graph) if long else _interpreted_loop(graph)
    memory = [NodeMemory(i, graph.period_ns) for i in graph.instances]
    logs = logs_for(graph, WINDOW)
    arrays = [a for m in memory for a in m.arrays]
    arrays += [a for t in graph.topics for a in (logs[t.name].ring, logs[t.name].count)]
    parts: dict[str, list[np.ndarray]] = {t.name: [] for t in graph.topics}
    tick, stopped = 0, False
    while tick < ticks and not stopped:
        tick, stopped = run(tick, min(tick + WINDOW, ticks), *arrays)
        for name, log in logs.items():
            parts[name].append(log.take(tick)["data"])
    return Flight({name: np.concatenate(p) for name, p in parts.items()}, graph, tick)
