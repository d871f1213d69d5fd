"""``holeshot batch``: one scenario under many seeds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graph.errors import InputError


def batch(
    scenario: Annotated[str, typer.Argument(help="scenario: a shipped name or the path of a .yaml file")],
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="[ARG=VALUE]...", help="further arguments of the launch file")
    ] = None,
    seeds: Annotated[
        int, typer.Option(min=1, max=1_000_000, help="number of runs, of each combination of values")
    ] = 100,
    first_seed: Annotated[int | None, typer.Option(help="seed of the first run; by default the scenario's own")] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="threads; by default one per core. Results do not depend on it")
    ] = None,
    min_success: Annotated[
        float | None, typer.Option(min=0.0, max=1.0, help="least success rate for exit code 0")
    ] = None,
    sets: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KIND.KEY=VALUES",
            help="a parameter's values: 3,4,5 or FIRST:LAST:COUNT; every combination is flown",
        ),
    ] = None,
    randomization: Annotated[float, typer.Option(metavar="FACTOR", help="every randomization bound times this")] = 1.0,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="keep results there; a stopped batch goes on")] = None,
    keep_bags: Annotated[
        int, typer.Option(min=0, help="fly at most so many failed runs again and keep their bags")
    ] = 10,
    ray: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="run on this Ray cluster, or on a local one: local")
    ] = None,
    launch: Annotated[str, typer.Option(help="launch file: a shipped name or the path of a .yaml file")] = "sitl",
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="draw the results: .svg, .png or .pdf")] = None,
    report: Annotated[Path | None, typer.Option(metavar="FILE", help="write them as one .html file")] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="print one JSON line per run, then one of the summary")
    ] = False,
) -> None:
    """Fly a scenario under many seeds, compiled and on every core, and sum up.

    Run i has the seed first-seed + i and ends at its verdict; it is the run that launch flies under that seed. Failed
    runs are flown again with recording.

    Exit code 0: done; 1: the success rate of some combination is below --min-success; 2: bad input; 130: stopped by
    Ctrl-C, what is done is summed up.

    Examples: holeshot batch b0-nominal --seeds 500 --min-success 0.99; holeshot batch b0-nominal --seeds 20 --set
    baseline.cruise_speed_m_s=3,4,5 --plot cruise.svg
    """
    from tools.batch.command import BatchOptions, run
    from tools.batch.output import check_outputs

    check_outputs(plot, report)
    if arguments and any(text.startswith(("scenario=", "seed=")) for text in arguments):
        raise InputError(
            "scenario and seed are not launch arguments here: name the scenario first, the seed as --first-seed"
        )
    options = BatchOptions(
        launch=launch,
        arguments=[f"scenario={scenario}", *(arguments or [])],
        seeds=seeds,
        first_seed=first_seed,
        jobs=jobs,
        min_success=min_success,
        sets=sets or [],
        randomization=randomization,
        out=out,
        keep_bags=keep_bags,
        ray=ray,
        plot=plot,
        report=report,
        as_json=as_json,
    )
    raise typer.Exit(run(options))
