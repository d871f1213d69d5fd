"""``holeshot score``: the scoreboard of recorded runs."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graph.errors import InputError
from tools.exit_codes import FAILED, GOOD

if TYPE_CHECKING:
    from graph.bag import Bag
    from scenarios.world import World


def score(
    bags: Annotated[list[Path], typer.Argument(metavar="BAG...", help="the bags")],
    speed_limit: Annotated[
        float | None, typer.Option(metavar="V", help="score again under this highest true speed, m/s")
    ] = None,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="draw the flight: .svg, .png or .pdf")] = None,
    report: Annotated[Path | None, typer.Option(metavar="FILE", help="write it as one .html file")] = None,
    trust: Annotated[bool, typer.Option("--trust", help="run modules that a bag names beside holeshot's own")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="print one JSON line per run")] = False,
) -> None:
    """Show the verdict on recorded runs.

    With --speed-limit, the scorer is stepped again over the recorded flight; it has no verdict where the recorded one
    ended the run before the other limit was broken or the course flown.

    Exit code 0: every run succeeded; 1: one did not, or has no verdict; 2: bad input.

    Example: holeshot score flight.mcap --speed-limit 4.5
    """
    from graph.bag import Bag
    from tools import terminal

    if speed_limit is not None and not (math.isfinite(speed_limit) and speed_limit > 0):
        raise InputError(f"--speed-limit {speed_limit:g}: must be a positive speed in m/s")
    if plot is not None or report is not None:
        if len(bags) > 1:
            raise InputError("--plot and --report are of one flight; give one bag, or draw a batch with holeshot batch")
        from tools.batch.output import check_outputs

        check_outputs(plot, report)
    good = True
    for path in bags:
        with terminal.working(f"scoring {path}"):
            world, found = scored(Bag.open(path), speed_limit, trust)
        _draw(path, plot, report, world, found, trust)
        good = good and found is not None and found["success"]
        if as_json:
            print(json.dumps({"seed": world.seed, "score": found, "bag": str(path)}))
        else:
            _print(path, world, found)
    raise typer.Exit(GOOD if good else FAILED)


def scored(bag: Bag, speed_limit: float | None = None, trust: bool = False) -> tuple[World, dict[str, Any] | None]:
    """A bag's world, and its score as ``tools.score_report`` has it, None without a verdict. Raises InputError."""
    from graph.recording import recorded
    from graph.replay import step_alone
    from msgs.gate_passage import GatePassage
    from msgs.record import read
    from msgs.score import Score
    from tools.recorded_session import from_bag
    from tools.score_report import score_of

    session, world = from_bag(bag, speed_limit, trust)
    recording = recorded(bag, session)
    topics = {t.message: t for t in session.graph.topics if t.message in (Score, GatePassage)}
    if Score not in topics:
        raise InputError(f"{bag.path}: its run had no scorer")
    logs = recording.logs
    if speed_limit is not None:
        logs = step_alone(recording, topics[Score].publisher.name)
    values = {kind: [read(r, kind) for r in logs[t.name]["data"]] for kind, t in topics.items() if t.name in logs}
    try:
        return world, score_of(values.get(Score, []), values.get(GatePassage, []), world.course.gate_ids)
    except ValueError as error:
        raise InputError(f"{bag.path}: its scorer's messages are damaged: {error}") from None


def _draw(
    path: Path, plot: Path | None, report: Path | None, world: World, found: dict[str, Any] | None, trust: bool
) -> None:
    from graph.bag import Bag

    if plot is not None:
        from tools.plots import flight_figure, save

        save(flight_figure(Bag.open(path), world, found, trust), plot)
    if report is not None:
        from tools.report import write_flight

        write_flight(report, Bag.open(path), world, found, trust)


def _print(path: Path, world: World, found: dict[str, Any] | None) -> None:
    from tools import terminal
    from tools.score_report import rows

    title = f"{path}: {world.scenario.name}, seed {world.seed}"
    if found is None:
        terminal.results.print(f"{title}: no verdict", markup=False)
    else:
        terminal.table(title, rows(found))
