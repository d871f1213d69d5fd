"""The running session that a command is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graph.config import did_you_mean
from graph.errors import InputError
from graph.process.register import running


def chosen_run(run: str | None) -> dict[str, Any]:
    """The running session named, or the only one. Raises InputError."""
    runs = running()
    if not runs:
        raise InputError("no session is running; start one with: holeshot launch sitl (runner process)")
    ids = [r["run"] for r in runs]
    if run is not None:
        if run not in ids:
            raise InputError(f"--run {run}: no such run{did_you_mean(run, ids)}; running: {', '.join(ids)}")
        return runs[ids.index(run)]
    if len(runs) > 1:
        texts = ", ".join(f"{r['run']} ({r['launch']} {r['scenario']})" for r in runs)
        raise InputError(f"several sessions are running; choose one with --run: {texts}")
    return runs[0]


def chosen_topics(run: Mapping[str, Any], names: Sequence[str]) -> list[dict[str, Any]]:
    """The topics named, each once, all of them without a name. Raises InputError for an unknown one."""
    topics = {t["name"]: t for t in run["topics"]}
    for name in names:
        if name not in topics:
            raise InputError(
                f"run {run['run']} has no topic {name}{did_you_mean(name, topics)}; topics: {', '.join(topics)}"
            )
    return [topics[name] for name in dict.fromkeys(names)] if names else list(topics.values())
