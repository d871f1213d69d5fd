"""From a launch file's name and its arguments to a session that can run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pydantic import Field

from graph.bag import Bag
from graph.build import Session, build, options_of
from graph.config import Config, dump_yaml, parse
from graph.errors import InputError
from graph.launch import Launch, resolve
from scenarios import library
from scenarios.baseline import Baseline
from scenarios.world import World
from tools.recorded_session import carried, check_shipped, own_slots

VIEWER = "nodes.viewer"


def load(name: str, overrides: Sequence[str] = (), viewer: bool = False) -> tuple[Session, World]:
    """The session of launch file ``name`` under ``arg=value`` overrides, checked but not started.

    Without ``viewer`` its viewer is left out. Raises InputError.
    """
    launch = resolve(name, overrides)
    if not viewer:
        for node in [n for n, entry in launch.nodes.items() if entry.node == VIEWER]:
            options_of(launch, node)  # what is wrong with them is said whether somebody looks or not
        launch = replace(launch, nodes={n: entry for n, entry in launch.nodes.items() if entry.node != VIEWER})
    elif not any(entry.node == VIEWER for entry in launch.nodes.values()):
        raise InputError(f"--viewer: launch file {launch.name} has no viewer; add a node: viewer: {{node: {VIEWER}}}")
    world = _recorded_world(launch) if "bag" in launch.world else _world(launch)
    return build(launch, world), world


class Flown(Config):
    """The world section of a launch file: what is flown."""

    scenario: str = Field(description="a shipped scenario or the path of a .yaml file")
    course: str | None = Field(default=None, description="course instead of the scenario's own")
    vehicle: str | None = Field(default=None, description="vehicle instead of the scenario's own")
    baseline: str | None = Field(default=None, description="autonomy stack instead of the scenario's own")
    seed: int | None = Field(default=None, description="seed instead of the scenario's own")
    duration: float | None = Field(default=None, description="longest duration, s, instead of the scenario's own")
    fault: str | None = Field(default=None, description="faults to add, in words")


def _world(launch: Launch) -> World:
    return World.load(**parse(Flown, launch.world, f"launch {launch.name}: world").model_dump())


def _recorded_world(launch: Launch) -> World:
    """The world of the bag that the launch file names, with another baseline if it names one."""
    path, baseline = launch.world["bag"], launch.world.get("baseline")
    other = next((key for key in launch.world if key not in ("bag", "baseline", "trust")), None)
    if other is not None:
        raise InputError(
            f"launch {launch.name}: world.{other}: comes from the bag; beside bag, only baseline and trust may be given"
        )
    if path is None:
        raise InputError(f"launch {launch.name}: world.bag: no bag given; name one, such as bag=flight.mcap")
    bag = Bag.open(str(path))
    world = carried(bag)[1]
    if baseline is None:
        if launch.world.get("trust") is not True:
            check_shipped(bag, own_slots(world))
        return world
    text = dump_yaml(library.load("baseline", Baseline, str(baseline)).model_dump(exclude_none=True))
    return World.from_resolved(world.resolved() | {"baseline": text})
