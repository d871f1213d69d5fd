"""The register of running sessions: one small JSON file each, by which any program finds a run and its topics.

``runs/<run>.json`` in the cache folder holds ``run``, ``pid``, ``host``, ``launch``, ``scenario``, ``baseline``,
``seed``, ``period_ns``, ``control`` (the key requests go to), ``edges`` (the key that says what came over each edge),
``zenoh`` (a configuration that connects to it), and ``topics``: each ``name``, ``key``, ``schema_name``, ``schema``
(ros2msg text), ``publisher``, ``subscribers``, ``delayed`` (those who hear it one tick later), ``rate_hz`` of its
publisher and ``latency_ms``. A payload is a CDR message: 4 bytes of header, then the fields of the schema. ``external``
says what each node that somebody else runs has to know to join.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from graph.cache import folder
from graph.files import whole
from graph.process.plan import Edge, Plan
from graph.process.transport import Keys, configuration
from msgs.message import log_dtype
from msgs.schema import name_of, text_of


def register() -> Path:
    """The folder of the files."""
    path = folder() / "runs"
    path.mkdir(exist_ok=True)
    return path


def description(plan: Plan, run: str, endpoints: Sequence[str]) -> dict[str, Any]:
    """What a run's file says."""
    session = plan.session
    keys, metadata = Keys(run), session.provenance.metadata["run"]
    topics = [
        {
            "name": t.name,
            "key": keys.topic(t.name),
            "schema_name": name_of(t.message),
            "schema": text_of(t.message),
            "publisher": t.publisher.name,
            "subscribers": sorted({i.name for i, _ in t.subscribers}),
            "delayed": sorted(i.name for i, _ in t.subscribers if (t.name, i.name) in session.graph.delayed),
            "rate_hz": t.publisher.setup.rate_hz,
            "latency_ms": t.latency_ns * 1e-6,
        }
        for t in session.graph.topics
    ]
    connect = configuration([], endpoints, session.launch.transport)
    connect["connect"]["exit_on_failure"] = False
    return {
        "run": run,
        "pid": os.getpid(),
        "host": platform.node(),
        **{key: metadata[key] for key in ("launch", "scenario", "baseline", "seed")},
        "period_ns": session.graph.period_ns,
        "control": keys.control,
        "edges": keys.edges,
        "zenoh": connect,
        "topics": topics,
        "external": [_joining(plan, keys, name) for name in plan.external],
    }


def _joining(plan: Plan, keys: Keys, name: str) -> dict[str, Any]:
    """What an external node has to know to take part."""

    def edge(e: Edge) -> dict[str, Any]:
        topics = [{"name": t.name, "slot_bytes": log_dtype(t.message).itemsize} for t in e.topics]
        return {"key": keys.edge(e.producer, e.consumer, e.delay), "delayed": e.delay == 1, "topics": topics}

    return {
        "name": name,
        "rate_hz": plan.session.graph.instance(name).setup.rate_hz,
        "clock": keys.clock,
        "done": keys.done(name),
        "ready": keys.ready(name),
        "wait_for": [keys.ready(other) for other in plan.processes if other != name],
        "inputs": [edge(e) for e in plan.edges if e.consumer == name != e.producer],
        "outputs": [edge(e) for e in plan.edges if e.producer == name],
    }


@contextlib.contextmanager
def registered(plan: Plan, run: str, endpoints: Sequence[str]) -> Iterator[None]:
    """In the register for the length of the block. One that cannot be written to hides the run and harms nothing."""
    path = None
    with contextlib.suppress(OSError):
        running()  # whose files of runs that are gone would be taken for this one's
        path = register() / f"{run}.json"
        with whole(path) as part:
            part.touch(mode=0o600)  # a configuration of zenoh may hold passwords
            part.write_text(json.dumps(description(plan, run, endpoints), indent=1))
    try:
        yield
    finally:
        if path is not None:
            path.unlink(missing_ok=True)


def running() -> list[dict[str, Any]]:
    """The runs of this machine, newest first; files that a killed run left behind are removed."""
    found = []
    for path in sorted(register().glob("*.json"), key=_age):
        try:
            entry = json.loads(path.read_text())
            if entry["host"] != platform.node():
                continue
            alive = is_alive(int(entry["pid"]))
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if alive:
            found.append(entry)
        else:
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
    return found


def is_alive(pid: int) -> bool:
    """Whether there is a process of that id."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _age(path: Path) -> float:
    try:
        return -path.stat().st_mtime
    except OSError:
        return 0.0
