"""A batch on a Ray cluster: seeds in small groups as tasks, in the results' order, with the results of threads."""

from __future__ import annotations

import logging
import socket
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from graph.errors import InputError
from graph.launch import Launch
from scenarios.world import World
from tools.batch.case import Case, Result

LOCAL = "local"
VALID = "valid: local, or HOST:PORT of a cluster"
GROUP = 8
"""Seeds of one task, at most: long enough for a task's overhead not to count, short enough to be flown again."""
RETRIES = 20
"""How often a group is flown again when the worker or the machine it was on is lost."""


def fly(
    address: str, cases: Sequence[Case], runs: Sequence[tuple[int, int]], jobs: int | None
) -> Iterator[tuple[tuple[int, int], Result]]:
    """Each run (number of its case, seed) with its result, in their order, flown by the cluster at ``address``.

    Raises InputError when Ray is not installed, there is no cluster, or a machine of it has other code than this one.
    """
    ray = _connected(address, jobs)
    try:
        task = ray.remote(num_cpus=1, max_retries=RETRIES)(_fly_group)
        shared = [ray.put((c.launch, c.world.resolved(), c.values, c.compiled.code)) for c in cases]
        room = 3 * max(1, int(ray.cluster_resources().get("CPU", 1)))
        groups = _groups(runs, max(1, min(GROUP, len(runs) // room)))
        under_way: deque[tuple[int, list[int], Any]] = deque()
        while True:
            while len(under_way) < room and (group := next(groups, None)) is not None:
                number, seeds = group
                under_way.append((number, seeds, task.remote(shared[number], seeds)))
            if not under_way:
                return
            number, seeds, reference = under_way.popleft()
            for seed, result in zip(seeds, ray.get(reference), strict=True):
                yield (number, seed), result
    finally:
        ray.shutdown()


def _connected(address: str, jobs: int | None) -> Any:
    try:
        import ray
    except ImportError:
        raise InputError(f"--ray {address}: needs Ray, which is not installed: pip install 'holeshot[ray]'") from None
    if address != LOCAL:
        _check_reachable(address)
    # A worker finds this project where it runs from a checkout that is not installed.
    environment = {"env_vars": {"PYTHONPATH": str(Path(__file__).parents[2])}}
    # Named: without an address Ray would join whatever cluster was started last on this machine.
    where: dict[str, Any] = {"address": "local", "num_cpus": jobs} if address == LOCAL else {"address": address}
    try:
        ray.init(
            **where, runtime_env=environment, log_to_driver=False, logging_level=logging.ERROR, include_dashboard=False
        )
    except (ConnectionError, ValueError, RuntimeError, OSError) as error:
        raise InputError(f"--ray {address}: no cluster there: {error}; {VALID}") from None
    return ray


def _check_reachable(address: str) -> None:
    """Raises InputError where nobody listens: Ray itself would try for minutes."""
    host, colon, port = address.rpartition(":")
    if not (host and colon and port.isdecimal()):
        raise InputError(f"--ray {address}: {VALID}")
    try:
        socket.create_connection((host, int(port)), timeout=10.0).close()
    except (OSError, OverflowError) as error:
        raise InputError(f"--ray {address}: no cluster there: {error}; {VALID}") from None


def _groups(runs: Sequence[tuple[int, int]], size: int) -> Iterator[tuple[int, list[int]]]:
    """Runs of one case that follow each other, at most ``size`` together."""
    number = -1
    seeds: list[int] = []
    for case, seed in runs:
        if seeds and (case != number or len(seeds) == size):
            yield number, seeds
            seeds = []
        number = case
        seeds.append(seed)
    if seeds:
        yield number, seeds


def _fly_group(shared: tuple[Launch, dict[str, str], Mapping[str, Any], str], seeds: Sequence[int]) -> list[Result]:
    launch, resolved, values, code = shared
    case = _case(_Key(launch, resolved, values))
    if case.compiled.code != code:
        raise InputError(f"--ray: machine {socket.gethostname()} has other code, or other versions, than this one")
    return [case.fly(seed) for seed in seeds]


class _Key:
    """What a case is made of, comparable by value."""

    def __init__(self, launch: Launch, resolved: Mapping[str, str], values: Mapping[str, Any]) -> None:
        self.launch, self.resolved, self.values = launch, resolved, values
        self._text = repr((launch, sorted(resolved.items()), sorted(values.items())))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)


@lru_cache(maxsize=4)
def _case(key: _Key) -> Case:
    """A case of this worker, compiled or loaded once."""
    return Case(key.launch, World.from_resolved(key.resolved), key.values)
