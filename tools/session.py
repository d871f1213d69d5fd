"""From a launch file's name and its arguments to a session that can run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from pydantic import Field

from graph.bag import Bag
from graph.build import Session, build
from graph.config import Config, dump_yaml, parse
from graph.errors import InputError
from graph.launch import Launch, from_text, resolve
from scenarios import library
from scenarios.baseline import Baseline
from scenarios.world import World
from tools.injected import injected_faults

MCAP_MAGIC = b"\x89MCAP"
VIEWER = "nodes.viewer"
CARRIED = ("scenario.yaml", "vehicle.yaml", "course.yaml", "baseline.yaml", "launch.yaml")
"""The attachments from which a bag's session is built."""


def load(name: str, overrides: Sequence[str] = (), viewer: bool = False) -> tuple[Session, World]:
    """The session of launch file ``name`` under ``arg=value`` overrides, checked but not started.

    Without ``viewer`` its viewer is left out. Raises InputError.
    """
    launch = resolve(name, overrides)
    if not viewer:
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
    other = next((key for key in launch.world if key not in ("bag", "baseline")), None)
    if other is not None:
        raise InputError(
            f"launch {launch.name}: world.{other}: comes from the bag; beside bag, only baseline may be given"
        )
    if path is None:
        raise InputError(f"launch {launch.name}: world.bag: no bag given; name one, such as bag=flight.mcap")
    world = carried(Bag.open(str(path)))[1]
    if baseline is None:
        return world
    text = dump_yaml(library.load("baseline", Baseline, str(baseline)).model_dump(exclude_none=True))
    return World.from_resolved(world.resolved() | {"baseline": text})


def from_bag(bag: Bag, speed_limit_m_s: float | None = None) -> tuple[Session, World]:
    """The session that a bag recorded, from the bag alone: its nodes without clock and sinks.

    ``speed_limit_m_s`` replaces the scenario's own. Raises InputError.
    """
    launch, world = carried(bag)
    if speed_limit_m_s is not None:
        world = replace(world, scenario=world.scenario.model_copy(update={"speed_limit_m_s": speed_limit_m_s}))
    session = build(launch, world)
    injected = injected_faults(bag, session)
    return (build(launch, world, injected) if injected else session), world


def carried(bag: Bag) -> tuple[Launch, World]:
    """The launch and the world that a bag carries. Raises InputError."""
    absent = [name for name in CARRIED if name not in bag.attachments]
    if absent:
        raise InputError(
            f"{bag.path}: does not carry {', '.join(absent)}: only a bag recorded by holeshot can be computed again"
        )
    texts = {}
    for name in CARRIED:
        try:
            texts[name.removesuffix(".yaml")] = bag.attachments[name].decode()
        except UnicodeDecodeError:
            raise InputError(f"{bag.path}: its attachment {name} is not a text") from None
    world = World.from_resolved({kind: text for kind, text in texts.items() if kind != "launch"})
    return from_text(texts["launch"], f"{bag.path}: launch.yaml"), world


def bag_path(world: World, given: str | None) -> str:
    """Where the run is recorded: as given, else a new file below ``bags/``. Raises InputError when it cannot be."""
    if given is None:
        stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
        Path("bags").mkdir(exist_ok=True)
        given = f"bags/{world.scenario.name}-seed{world.seed}-{stamp}.mcap"
    path = Path(given)
    if path.is_dir():
        raise InputError(f"--record {given}: is a folder; name a file, such as {path / 'run.mcap'}")
    if not path.parent.is_dir():
        raise InputError(f"--record {given}: there is no folder {path.parent}")
    if path.exists():
        with path.open("rb") as file:
            head = file.read(len(MCAP_MAGIC))
        if head not in (MCAP_MAGIC, b""):
            raise InputError(f"--record {given}: there is a file that is no bag; it stays as it is")
    try:
        # Asking the system is the only way to know; what exists keeps its content, what does not is not left behind.
        with path.open("r+b" if path.exists() else "xb") as file:
            created = file.mode == "xb"
        if created:
            path.unlink()
    except OSError as error:
        raise InputError(f"--record {given}: cannot be written: {error.strerror}") from None
    return given
