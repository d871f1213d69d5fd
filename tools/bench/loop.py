"""Rows of the fused loop: one flight, each node's share, its cost as seeds, duration and threads grow, its memory."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from functools import cache
from typing import Any

import numba

from graph import loop
from graph.batch import Pool
from graph.build import Session
from graph.cores import available_cores
from graph.fused import FusedRun
from graph.memory import Array, entry_of
from graph.run import prepare
from graph.wiring import Graph
from scenarios.world import World
from tools.batch.case import MEMORIES, Case, Result
from tools.bench.measure import Measured, least
from tools.session import load

FLIGHT = "scenario=b0-nominal"


@cache
def flight(*more: str) -> tuple[Session, World]:
    """The session of a nominal flight, compiled."""
    session, world = load("sitl", [FLIGHT, *more])
    prepare(session, "fused")
    return session, world


@cache
def case(*more: str) -> Case:
    """A nominal flight as a batch flies it."""
    session, world = flight(*more)
    return Case(session.launch, world, {})


def one_flight() -> Measured:
    """The loop over one flight of two laps, on one core, without a log and without configuring nodes."""
    session, _ = flight()
    run = FusedRun(session.graph, 1)
    first = [array.copy() for array in run.arrays()]
    ticks = 0

    def again() -> None:
        for array, value in zip(run.arrays(), first, strict=True):
            array[...] = value

    def fly() -> None:
        nonlocal ticks
        ticks, _ = run.step(0, session.ticks)

    taken = least(20, fly, time.thread_time, again)
    nanoseconds = taken / ticks * 1e9
    return Measured(taken * 1e3, "ms", f"{ticks} ticks, {nanoseconds:.0f} ns each", {"ns_per_tick": nanoseconds})


def nodes() -> Measured:
    """Each node alone in the loop, on the recorded inputs of a flight."""
    session, _ = flight()
    graph, ticks = session.graph, session.ticks
    run = FusedRun(graph, ticks)
    first = [array.copy() for array in run.arrays()]
    arrays = dict(zip(loop.arguments(graph), run.arrays(), strict=True))
    initial = dict(zip(loop.arguments(graph), first, strict=True))
    end, _ = run.step(0, ticks)
    said = {name: array.copy() for name, array in arrays.items() if name.startswith("n_")}
    shares = {i.name: _share(graph, i.name, end, arrays, initial, said) for i in graph.instances}
    detail = ", ".join(f"{name} {share:.0f}" for name, share in shares.items())
    return Measured(sum(shares.values()), "ns/tick", detail, {"ns_per_tick": shares})


def _share(
    graph: Graph, name: str, end: int, arrays: dict[str, Array], initial: dict[str, Array], said: dict[str, Array]
) -> float:
    instance = graph.instance(name)
    names = loop.arguments_of(instance)
    namespace: dict[str, Any] = {f"step_{name}": entry_of(instance).dispatcher}
    exec(loop.source_of(graph, [instance], list(dict.fromkeys(names))), namespace)
    options: Any = {"error_model": "numpy", "_nrt": False}
    run = numba.njit(**options)(namespace["run"])
    given = [arrays[n] for n in dict.fromkeys(names)]
    published = {f"n_{instance.outputs[o.name]}" for o in instance.node.outputs}

    def again() -> None:
        for n in names:
            if n.startswith("n_"):
                arrays[n][...] = 0 if n in published else said[n]
            elif not n.startswith("log_"):
                arrays[n][...] = initial[n]

    again()
    run(0, 1, *given)
    return least(8, lambda: run(0, end, *given), time.thread_time, again) / end * 1e9


def five_hundred_seeds() -> Measured:
    """A batch on every core, with configuring and scoring, scaled from fewer seeds to 500."""
    jobs = len(available_cores())
    seeds = 30 * jobs
    begun = time.process_time()
    taken = _batch(seeds, jobs, time.perf_counter)
    each = (time.process_time() - begun) / seeds
    detail = f"{seeds} seeds on {jobs} threads took {taken:.2f} s, and {each * 1e3:.1f} ms of CPU each"
    return Measured(
        500 * taken / seeds, "s", detail, {"seeds": seeds, "jobs": jobs, "s": taken, "cpu_s_per_seed": each}
    )


def _batch(seeds: int, jobs: int, clock: Callable[[], float], *more: str) -> float:
    flown = case(*more)
    pool: Pool[int, Result] = Pool(lambda seed, cancelled: flown.fly(seed, cancelled), jobs)
    begun = clock()
    for _ in pool.results(range(seeds)):
        pass
    return clock() - begun


def growth() -> Measured:
    """CPU time per simulated second as the number of seeds, the duration and the number of threads grow."""
    _batch(2, 2, time.process_time)

    def cost(seeds: int, jobs: int, seconds: float) -> float:
        return _batch(seeds, jobs, time.process_time, f"duration={seconds:g}") / (seeds * seconds) * 1e6

    numbers = {
        "seeds": {n: cost(n, 1, 80.0) for n in (2, 8, 32)},
        "duration_s": {d: cost(8, 1, d) for d in (10, 20, 40, 80)},
        "jobs": {j: cost(16, j, 80.0) for j in (1, 2, 4)},
    }
    detail = "; ".join(
        f"{name} {', '.join(f'{key}: {value:.0f}' for key, value in series.items())}"
        for name, series in numbers.items()
    )
    return Measured(numbers["seeds"][32] / numbers["seeds"][2], "x", f"us per simulated s: {detail}", numbers)


def memory() -> Measured:
    """What one more seed adds to the memory of the process, and what a thread's seat takes."""
    flown = case()
    for seed in range(4):
        flown.fly(seed)
    seat = sum(array.nbytes for array in MEMORIES.of(flown.compiled).arrays)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for seed in range(60):
        flown.fly(seed)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 60
    return Measured(grown, "KiB/seed", f"a thread's logs: {seat / 2**20:.1f} MiB, of which little is touched")
