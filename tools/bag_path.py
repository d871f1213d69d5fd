"""Where a run is recorded."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from graph.bag.records import MAGIC
from graph.build import Session
from graph.errors import InputError, why
from nodes.recorder import Recorder
from scenarios.world import World


def recorded_to(session: Session, world: World, given: str | None) -> str | None:
    """Where a session's run is recorded; None when it has no recorder. Raises InputError when it cannot be there."""
    recorders = [name for name, part in session.sinks.items() if issubclass(part.kind, Recorder)]
    launch = session.launch
    if len(recorders) > 1:
        raise InputError(f"launch {launch.name}: {' and '.join(recorders)} would record to one bag; keep one of them")
    if not recorders:
        if given is not None:
            raise InputError(f"--record {given}: launch file {launch.name} has no recorder, a node: nodes.recorder")
        return None
    played = launch.world.get("bag")
    if given is not None and Path(given).exists() and played is not None and Path(given).samefile(str(played)):
        raise InputError(f"--record {given}: is the bag that is played; it stays as it is")
    return bag_path(world, given)


def bag_path(world: World, given: str | None) -> str:
    """Where a run is recorded: as given, else a new file below ``bags/``. Raises InputError when it cannot be."""
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
            head = file.read(len(MAGIC))
        if head not in (MAGIC, b""):
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
def kept_if_recorded(bag: str | None) -> Iterator[None]:
    """Within the block a run records to ``bag``; one in which nothing was recorded is not left behind."""
    try:
        yield
    finally:
        with suppress(OSError):
            if bag is not None and Path(bag).is_file() and Path(bag).stat().st_size == 0:
                Path(bag).unlink()
