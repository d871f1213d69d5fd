"""``holeshot launch``: run a launch file."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from graph.errors import InputError
from tools.exit_codes import FAILED, INTERRUPTED


def launch(
    name: Annotated[str, typer.Argument(help="launch file: a shipped name or the path of a .yaml file")],
    arguments: Annotated[list[str] | None, typer.Argument(metavar="[ARG=VALUE]...", help="launch arguments")] = None,
    runner: Annotated[
        str, typer.Option(help="where nodes run: process, inline or fused; the bag is the same")
    ] = "process",
    record: Annotated[
        str | None, typer.Option(metavar="PATH", help="the bag; by default a new one below bags/")
    ] = None,
    rate: Annotated[str, typer.Option(metavar="FACTOR|max", help="simulated seconds per second")] = "max",
    window_ms: Annotated[
        float | None, typer.Option(help="simulated time granted at once, ms; the bag is the same")
    ] = None,
    viewer: Annotated[
        bool | None, typer.Option("--viewer/--no-viewer", help="serve viewers; by default when a terminal is there")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print the result as one JSON line")] = False,
    show_args: Annotated[bool, typer.Option("--show-args", help="list the launch file's arguments and exit")] = False,
) -> None:
    """Run a launch file; ends with the score and the bag's path.

    Exit code 0: success; 1: the run ended without success; 2: bad input; 3: a node failed or stalled;
    130: ended by Ctrl-C or by a viewer.

    Example: holeshot launch sitl scenario=b0-nominal seed=7 --runner inline --record flight.mcap
    """
    from graph.launch import read
    from graph.rate import read_rate

    if show_args:
        _show_args(read(name))
        return
    from graph.service import LONGEST_WINDOW_MS

    factor = read_rate(rate, "--rate")
    if window_ms is not None and not 0 < window_ms <= LONGEST_WINDOW_MS:
        raise InputError(f"--window-ms {window_ms}: must be above 0 and at most {LONGEST_WINDOW_MS} milliseconds")

    from graph.run import RUNNERS

    if runner not in RUNNERS:
        raise InputError(f"--runner {runner}: valid: {', '.join(RUNNERS)}")
    code = _fly(name, arguments or [], runner, record, factor, window_ms, viewer, as_json)
    raise typer.Exit(code)


def _show_args(file: object) -> None:
    from graph.launch import File

    assert isinstance(file, File)
    typer.echo(f"{file.name}: {file.description}")
    for name, argument in file.args.items():
        default = "" if argument.default is None else f" = {argument.default}"
        typer.echo(f"  {name}: {argument.type}{default}  {argument.help}")


def _fly(
    name: str,
    arguments: list[str],
    runner: str,
    record: str | None,
    rate: float,
    window_ms: float | None,
    viewer: bool | None,
    as_json: bool,
) -> int:
    from graph.execution import Execution
    from graph.run import check_sinks, run
    from tools import monitor
    from tools.bag_path import kept_if_recorded, recorded_to
    from tools.flight_display import FlightDisplay
    from tools.session import load

    session, world = load(name, arguments, _wants_viewer(name, viewer))
    check_sinks(session)  # also before what may take long: compiling
    bag = recorded_to(session, world, record)
    display = FlightDisplay(session, world)
    with kept_if_recorded(bag):
        display.prepare(runner)
        with display:
            outcome = run(
                session,
                Execution(
                    runner,
                    window_ms,
                    rate,
                    bag,
                    watched=display.watched,
                    on_message=display.on_message,
                    on_notice=display.on_notice,
                ),
            )
    result = display.result()
    if as_json:
        print(json.dumps({"seed": world.seed, "score": result, "bag": bag}))
    else:
        display.print_result(result, bag)
    violation = None if bag is None else monitor.report(bag, session, world)
    if violation is not None:
        print(violation, file=sys.stderr)
        return FAILED
    if outcome.interrupted:
        return INTERRUPTED
    return 0 if result is None or result["success"] else FAILED


def _wants_viewer(name: str, asked: bool | None) -> bool:
    """Whether to serve viewers: as asked, else when a person is there to look and the launch file has a viewer."""
    from graph.launch import resolve
    from tools import terminal
    from tools.session import VIEWER

    if asked is not None:
        return asked
    return terminal.progress.is_terminal and any(e.node == VIEWER for e in resolve(name).nodes.values())
