"""What a bag carries beside its messages, so that it explains itself and its run can be repeated."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any

from graph.config import dump_yaml
from graph.derived import Derived
from graph.launch import Launch
from graph.wiring import Graph

LIBRARIES = ("eclipse-zenoh", "foxglove-sdk", "numba", "llvmlite", "numpy", "zstandard")
"""Those whose version may show in the bytes of a bag."""


@dataclass(frozen=True)
class Provenance:
    """What a bag carries beside its messages, so that it explains itself."""

    metadata: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    attachments: Mapping[str, bytes] = field(default_factory=dict)


def provenance(launch: Launch, graph: Graph, world: Any, derived: Sequence[Derived] = ()) -> Provenance:
    """What makes a bag self-contained: every file as resolved, the seed, library versions and CPU.

    How the run was executed (runner, clock, sinks, transport, who runs a node) is not in it: it never changes a byte.
    """
    names = (*(i.name for i in graph.instances), *(d.name for d in derived))
    stepped = {name: launch.nodes[name].model_copy(update={"external": False}) for name in names}
    attachments = {f"{kind}.yaml": text.encode() for kind, text in world.resolved().items()}
    attachments["launch.yaml"] = dump_yaml(
        {
            "name": launch.name,
            "nodes": {name: entry.model_dump(exclude_defaults=True) for name, entry in stepped.items()},
            "delayed": [f"{node}.{port}" for node, port in launch.delayed],
            "order": list(launch.order),
        }
    ).encode()
    run = {"launch": launch.name, "scenario": world.scenario.name, "baseline": world.baseline.name}
    run |= {"course": world.course.name, "vehicle": world.vehicle.name, "seed": str(world.seed)}
    versions = {name: metadata.version(name) for name in LIBRARIES}
    machine = {"python": platform.python_version(), "machine": platform.machine(), "cpu": cpu_name()}
    return Provenance({"run": run, "versions": versions, "machine": machine}, attachments)


def cpu_name() -> str:
    """The processor's model name, as the system gives it."""
    try:
        with open("/proc/cpuinfo") as file:
            return next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), "unknown")
    except OSError:
        return platform.processor() or "unknown"
