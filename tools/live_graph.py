"""``holeshot graph --live``: what comes over every edge of a running session, by the run's own counters."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from graph.errors import InputError
from graph.process.register import is_alive
from graph.process.transport import session
from msgs.units import NS_PER_S
from tools import terminal
from tools.running_session import chosen_run
from tools.topic.traffic import text_of

LIVE_POLL_S = 0.5
ANSWER_S = 5.0
"""How long a run may take to say what came over its edges."""


def live_edges(run: str | None, seconds: float, as_json: bool) -> None:
    """``holeshot graph --live``: every edge of every topic, what came over it in ``seconds`` of wall time, and how long
    that took. Read from the run's own counters, so that looking does not load it.
    """
    found = chosen_run(run)
    with session(found["zenoh"]) as opened, terminal.working(f"measuring for {seconds:g} s"):
        before = _traffic(opened, found)
        if before is None:
            raise InputError(f"run {found['run']} does not answer")
        after = before
        begun = time.monotonic()
        took = 0.0
        while took < seconds and is_alive(found["pid"]):  # what was counted last stands, when the run ends meanwhile
            time.sleep(min(seconds - took, LIVE_POLL_S))
            newest, now = _traffic(opened, found), time.monotonic()
            if newest is None:
                break
            after, took = newest, now - begun
    topics = {t["name"]: t for t in found["topics"]}
    edges = [
        _edge(found, topics[name], old, new, took)
        for old, new in zip(before, after, strict=True)
        for name in new["messages"]
    ]
    if as_json:
        print(json.dumps({"run": found["run"], "edges": edges}))
        return
    rows = [
        (
            *(e[key] for key in ("from", "topic", "to")),
            *(text_of(e[key]) for key in ("hz_simulated", "hz_wall", "latency_us")),
            f"{e['configured_latency_ms']:g}",
        )
        for e in edges
    ]
    header = ("from", "topic", "to", "Hz sim", "Hz wall", "latency us", "sim ms")
    terminal.table(f"run {found['run']}: {found['launch']} {found['scenario']}", rows, header)


def _traffic(opened: Any, run: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """What has come over each edge of a run so far; None when the run does not answer."""
    for reply in opened.get(run["edges"], timeout=ANSWER_S):
        if reply.ok is not None:
            edges: list[dict[str, Any]] = json.loads(reply.ok.payload.to_bytes())["edges"]
            return edges
    return None


def _edge(
    run: Mapping[str, Any], topic: Mapping[str, Any], old: Mapping[str, Any], new: Mapping[str, Any], took: float
) -> dict[str, Any]:
    """One topic on one edge, between two looks that were ``took`` s of wall time apart."""
    name, packets = topic["name"], new["packets"] - old["packets"]
    messages, ticks = new["messages"][name] - old["messages"][name], new["tick"] - old["tick"]
    late = run["period_ns"] * 1e-6 if new["to"] in topic["delayed"] else 0.0
    return {
        "from": new["from"],
        "topic": name,
        "to": new["to"],
        "hz_simulated": messages / (ticks * run["period_ns"] / NS_PER_S) if ticks > 0 else None,
        "hz_wall": messages / took if took > 0.0 else 0.0,
        "latency_us": (new["latency_ns"] - old["latency_ns"]) / packets * 1e-3 if packets and messages else None,
        "configured_latency_ms": topic["latency_ms"] + late,
    }
