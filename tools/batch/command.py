"""What ``holeshot batch`` does: cases, runs, results, and the failed runs once more with recording."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graph.batch import Pool
from graph.build import build
from graph.cores import available_cores
from graph.errors import InputError, why
from graph.execution import Execution
from graph.interrupt import Interrupt
from graph.run import run as run_session
from tools import terminal
from tools.batch.case import Case, Result
from tools.batch.display import BatchDisplay
from tools.batch.output import write_outputs
from tools.batch.store import Store, key
from tools.batch.summary import rows, summary, sweep_table
from tools.exit_codes import FAILED, GOOD, INTERRUPTED
from tools.parameters import applied, combinations, parse_sets, scaled
from tools.session import load


@dataclass(frozen=True)
class BatchOptions:
    """The command's arguments."""

    launch: str
    arguments: Sequence[str]
    seeds: int
    first_seed: int | None
    jobs: int | None
    min_success: float | None
    sets: Sequence[str]
    randomization: float
    out: Path | None
    keep_bags: int
    ray: str | None
    plot: Path | None
    report: Path | None
    as_json: bool


def run(options: BatchOptions) -> int:
    """Run the batch; returns the exit code. Raises InputError."""
    display = BatchDisplay()
    cases = _cases(options)
    first = cases[0].world.seed if options.first_seed is None else options.first_seed
    seeds = range(first, first + options.seeds)
    results: list[list[Result]] = [[] for _ in cases]
    output = sys.stdout
    with contextlib.ExitStack() as stack:
        if options.ray is not None:
            stack.enter_context(contextlib.redirect_stdout(sys.stderr))  # Ray talks there of what it lost
        interrupt = stack.enter_context(Interrupt())
        store = None if options.out is None else stack.enter_context(Store(options.out, cases))
        stack.enter_context(display.running(len(cases) * len(seeds)))
        try:
            for number, result in _results(options, cases, seeds, store):
                results[number].append(result)
                display.advance(result)
                if options.as_json:
                    print(json.dumps(result), file=output, flush=True)
                if interrupt.asked:
                    break
        except KeyboardInterrupt:
            pass
    groups = [(case, summary(found)) for case, found in zip(cases, results, strict=True)]
    write_outputs(options.plot, options.report, cases, results)
    _print(options, groups)
    if interrupt.asked:
        done = sum(len(found) for found in results)
        terminal.progress.print(f"stopped after {done} of {len(cases) * len(seeds)} runs")
        return INTERRUPTED
    if not _record_failures(options, cases, results):
        return INTERRUPTED
    least = options.min_success
    return FAILED if least is not None and any((s["success_rate"] or 0.0) < least for _, s in groups) else GOOD


def _cases(options: BatchOptions) -> list[Case]:
    session, world = load(options.launch, options.arguments)
    if options.randomization != 1.0:
        world = scaled(world, options.randomization)
    cases = []
    with terminal.compiling() as on_compile:
        for values in combinations(parse_sets(world, options.sets)):
            cases.append(Case(session.launch, applied(world, values), values, on_compile))
    return cases


def _results(
    options: BatchOptions, cases: Sequence[Case], seeds: Sequence[int], store: Store | None
) -> Iterator[tuple[int, Result]]:
    """Every run's case and result, in the order of cases and seeds; what the store has is not flown again."""
    done = {} if store is None else dict(store.done)
    open_runs = [(n, s) for n, case in enumerate(cases) for s in seeds if key(case.values, s) not in done]
    flown = _flown(options, cases, open_runs)
    for number, case in enumerate(cases):
        for seed in seeds:
            result = done.get(key(case.values, seed))
            if result is None:
                _, result = next(flown)
                if store is not None:
                    store.add(result)
            yield number, result


def _flown(
    options: BatchOptions, cases: Sequence[Case], runs: Sequence[tuple[int, int]]
) -> Iterator[tuple[tuple[int, int], Result]]:
    if options.ray is not None:
        from tools.batch.cluster import fly

        return fly(options.ray, cases, runs, options.jobs)
    pool: Pool[tuple[int, int], Result] = Pool(
        lambda item, cancelled: cases[item[0]].fly(item[1], cancelled), options.jobs or len(available_cores())
    )
    return pool.results(runs)


def _print(options: BatchOptions, groups: Sequence[tuple[Case, dict[str, Any]]]) -> None:
    world = groups[0][0].world
    if options.as_json:
        for case, found in groups:
            print(json.dumps(({"set": case.values} if case.values else {}) | {"summary": found}))
    elif len(groups) == 1:
        title = f"{world.scenario.name}, baseline {world.baseline.name}, course {world.course.name}"
        terminal.table(title, rows(groups[0][1]))
    else:
        header, lines = sweep_table([(case.values, found) for case, found in groups])
        terminal.table(f"{world.scenario.name}, {options.seeds} seeds each", lines, header)


def _record_failures(options: BatchOptions, cases: Sequence[Case], results: Sequence[Sequence[Result]]) -> bool:
    """Fly failed runs again with recording, and say where their bags are. False when Ctrl-C stopped it."""
    failed = [
        (number, result["seed"])
        for number, found in enumerate(results)
        for result in found
        if result["score"] is None or not result["score"]["success"]
    ]
    if not failed or not options.keep_bags:
        return True
    folder = Path("bags") if options.out is None else options.out / "bags"
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: {why(error)}") from None
    wanted = failed[: options.keep_bags]
    with Interrupt() as interrupt:
        for done, (number, seed) in enumerate(wanted):
            case = cases[number]
            part = f"-{number + 1}" if len(cases) > 1 else ""
            path = folder / f"{case.world.scenario.name}{part}-seed{seed}-failed.mcap"
            with terminal.working(f"recording seed {seed}"):
                session = build(case.launch, case.world.with_seed(seed))
                stopped = interrupt.asked or run_session(session, Execution("fused", bag=str(path))).interrupted
            if stopped:
                terminal.progress.print(f"stopped after recording {done} of {len(wanted)} failed runs")
                return False
            terminal.progress.print(
                f"failed: seed {seed}{', ' + case.title if case.values else ''}; bag: {path}", soft_wrap=True
            )
    if len(failed) > options.keep_bags:
        more = len(failed) - options.keep_bags
        terminal.progress.print(f"{more} more failed; --keep-bags records more of them")
    return True
