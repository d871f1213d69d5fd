"""Runs of the gates: recorded by a runner, and what was said in them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from graph.execution import Execution
from graph.inline import InlineRun
from graph.memory import Array
from graph.node import Context
from graph.run import run
from graph.wiring import Graph, Instance, connect
from msgs.record import read
from msgs.units import NS_PER_S
from nodes import fault_injector, imu, sim_fc, simulator
from scenarios.world import World
from tools.session import load


def record(path: Path, runner: str, *arguments: str, window_ms: float | None = None) -> bytes:
    """The bag of a sitl launch."""
    session, _ = load("sitl", arguments)
    run(session, Execution(runner=runner, bag=str(path), window_ms=window_ms))
    return path.read_bytes()


@dataclass(frozen=True)
class Bench:
    """A few nodes wired by port names, and all they said before the end."""

    graph: Graph
    logs: Mapping[str, Array]

    def values(self, topic: str) -> list[Any]:
        """The messages of a topic."""
        return [read(record, self.graph.topic(topic).message) for record in self.logs[topic]["data"]]


def fly(world: World, modules: Mapping[str, ModuleType], duration_s: float) -> Bench:
    """Run simulator, IMU and flight controller with ``modules`` in place of the stack."""
    parts = {"fault_injector": fault_injector, "simulator": simulator, "imu": imu, "sim_fc": sim_fc, **modules}
    instances = [_instance(name, module, world) for name, module in parts.items()]
    graph = connect(instances, NS_PER_S // world.scenario.sim.physics_rate_hz, [("simulator", "rotor_command")])
    return Bench(graph, _said(graph, round(duration_s * world.scenario.sim.physics_rate_hz) + 1))


def _instance(name: str, module: ModuleType, world: World) -> Instance:
    configure: Callable[[Context], Any] = module.configure
    node = getattr(module, name)
    inputs, outputs = ({p.name: p.name for p in side} for side in (node.inputs, node.outputs))
    return Instance(name, node, configure(Context(name, world.seed, None, world)), inputs, outputs)


def _said(graph: Graph, ticks: int) -> dict[str, Array]:
    parts: dict[str, list[Array]] = {t.name: [] for t in graph.topics}

    def take(end: int, logs: Mapping[str, Array]) -> None:
        for name, log in logs.items():
            parts[name].append(log)

    InlineRun(graph, 1000).run(ticks, take)
    return {name: _joined(part) for name, part in parts.items()}


def _joined(parts: Sequence[Array]) -> Array:
    return np.concatenate(parts)
