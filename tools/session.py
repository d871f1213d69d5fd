"""From a launch file's name and its arguments to a session that can run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from pydantic import Field

from graph.bag import Bag
from graph.build import Session, build
from graph.config import Config, dump_yaml, parse
from graph.errors import InputError, why
from graph.launch import Launch, from_text, resolve
from scenarios import library
from scenarios.baseline import Baseline
from scenarios.world import World
from tools.injected import injected_faults

MCAP_MAGIC = b"\x89MCAP"
VIEWER = "nodes.viewer"
SHIPPED = ("nodes.", "baselines.")
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
            _check_shipped(bag, _slots(world))
        return world
    text = dump_yaml(library.load("baseline", Baseline, str(baseline)).model_dump(exclude_none=True))
    return World.from_resolved(world.resolved() | {"baseline": text})


def from_bag(bag: Bag, speed_limit_m_s: float | None = None, trust: bool = False) -> tuple[Session, World]:
    """The session that a bag recorded, from the bag alone: its nodes without clock and sinks.

    ``speed_limit_m_s`` replaces the scenario's own. ``trust``: modules that the bag names are imported, which runs
    them, also those that are no part of this package. Raises InputError.
    """
    launch, world = carried(bag)
    if not trust:
        _check_shipped(bag, {f"node {name}": entry.node for name, entry in launch.nodes.items()} | _slots(world))
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


def _slots(world: World) -> dict[str, str]:
    """The modules that the baseline of ``world`` names beside shipped slots."""
    slots = world.baseline.slots.model_dump()
    return {f"baseline slot {kind}": module for kind, module in slots.items() if "." in module}


def _check_shipped(bag: Bag, modules: Mapping[str, str]) -> None:
    """Raises InputError when one of the ``modules``, by who names it, is no part of this package."""
    for who, module in modules.items():
        if not module.startswith(SHIPPED):
            raise InputError(
                f"{bag.path}: {who} is the module {module}, which is not holeshot's own and would be run; if you trust "
                "it, say so: --trust (launch: trust=true)"
            )


def bag_path(world: World, given: str | None) -> str:
    """Where the run is recorded: as given, else a new file below ``bags/``. Raises InputError when it cannot be."""
    if given is None:
        return _new_bag(f"{world.scenario.name}-seed{world.seed}-{datetime.now(UTC):%Y%m%d-%H%M%S}")
    path = Path(given)
    if path.is_dir():
        raise InputError(f"--record {given}: is a folder; name a file, such as {path / 'run.mcap'}")
    if not path.parent.is_dir():
        raise InputError(f"--record {given}: there is no folder {path.parent}")
    if path.exists():
        if not path.is_file():
            raise InputError(f"--record {given}: is no regular file; it stays as it is")
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
        raise InputError(f"--record {given}: cannot be written: {why(error)}") from None
    return given


def _new_bag(name: str) -> str:
    """A file of that name that nobody has yet, created empty, so that of two launches neither gets the other's."""
    folder = Path("bags")
    try:
        folder.mkdir(exist_ok=True)
        for number in count(1):
            path = folder / f"{name}{'' if number == 1 else f'-{number}'}.mcap"
            with suppress(FileExistsError), path.open("xb"):
                return str(path)
    except OSError as error:
        where = f"{folder}: {why(error)}"
        raise InputError(f"{where}; recordings go there, or to the file that --record names") from None
    raise AssertionError


@contextmanager
def kept_if_recorded(bag: str) -> Iterator[None]:
    """Within the block a run records to ``bag``; one in which nothing was recorded is not left behind."""
    try:
        yield
    finally:
        with suppress(OSError):
            if Path(bag).is_file() and Path(bag).stat().st_size == 0:
                Path(bag).unlink()
