"""``holeshot bag info``: what a bag holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from msgs.units import NS_PER_S

if TYPE_CHECKING:
    from graph.bag import Bag


def info(
    bag: Annotated[Path, typer.Argument(metavar="BAG", help="the bag")],
    as_json: Annotated[bool, typer.Option("--json", help="print the result as one JSON line")] = False,
) -> None:
    """Show topics with types, counts and rates, duration, where the bag comes from, and whether it is complete.

    Example: holeshot bag info flight.mcap
    """
    from graph.bag import Bag

    opened = Bag.open(bag)
    found = summary(opened)
    if as_json:
        print(json.dumps(found))
    else:
        _print(found)


def summary(bag: Bag) -> dict[str, Any]:
    """What the bag holds, as a JSON object. Times in simulated s, rates in messages per simulated s."""
    topics = {}
    for topic in bag.topics:
        heads = bag.heads(topic)
        times = heads["log_time"]
        span = int(times[-1]) - int(times[0]) if len(times) else 0
        gaps = int((heads["sequence"][1:].astype("i8") - heads["sequence"][:-1] != 1).sum()) if len(times) else 0
        topics[topic] = {
            "type": bag.schemas[topic].name,
            "count": len(times),
            "rate_hz": (len(times) - 1) * NS_PER_S / span if span > 0 else None,
            "first_s": int(times[0]) / NS_PER_S if len(times) else None,
            "last_s": int(times[-1]) / NS_PER_S if len(times) else None,
            "sequence_gaps": gaps,
        }
    return {
        "bag": str(bag.path),
        "bytes": bag.path.stat().st_size,
        "library": bag.library,
        "start_s": bag.start_time / NS_PER_S,
        "duration_s": (bag.end_time - bag.start_time) / NS_PER_S,
        "messages": sum(bag.counts.values()),
        "completeness": completeness(bag),
        "topics": topics,
        "metadata": bag.metadata,
        "attachments": {name: len(data) for name, data in bag.attachments.items()},
    }


def completeness(bag: Bag) -> dict[str, Any]:
    """What the recorder said at the end, held against what the bag has: state and a sentence."""
    from graph.bag.marks import COMPLETENESS, CUT, TO_THE_END

    part = bag.metadata.get(CUT)
    if part is not None:
        begin, end = (part.get(key, "?") for key in ("from_ns", "to_ns"))
        span = f"from {begin} ns" + (" to the end" if end == str(TO_THE_END) else f" to {end} ns")
        return {"state": "cut", "text": f"a part of a bag: {span}, topics {part.get('topics', '?')}"}
    record = bag.metadata.get(COMPLETENESS)
    if record is None:
        return {"state": "unknown", "text": "the recorder did not say: the run did not end in order"}
    stated = {key.removeprefix("topic "): text for key, text in record.items() if key.startswith("topic ")}
    wrong = [f"{t}: {n}" for t, n in stated.items() if n != str(bag.counts.get(t, 0))]
    if record.get("complete") != "yes" or wrong:
        return {"state": "no", "text": f"messages are missing: {', '.join(wrong) or 'the recorder does not say which'}"}
    return {
        "state": "yes",
        "text": f"complete: every message published before tick {record.get('end_tick', '?')} is here",
    }


def _print(found: dict[str, Any]) -> None:
    from tools import terminal

    rows = [
        (
            name,
            t["type"].rpartition("/")[2],
            str(t["count"]),
            "-" if t["rate_hz"] is None else f"{t['rate_hz']:.6g} Hz",
            "-" if t["first_s"] is None else f"{t['first_s']:.3f} to {t['last_s']:.3f} s",
            f"{t['sequence_gaps']} gaps" if t["sequence_gaps"] else "",
        )
        for name, t in found["topics"].items()
    ]
    title = f"{found['bag']}: {found['duration_s']:g} s, {found['messages']} messages, {found['bytes']} bytes"
    if rows:
        terminal.table(title, rows, ("topic", "type", "messages", "rate", "time", ""))
    else:
        terminal.results.print(f"{title}, no topics")
    for kind, entries in found["metadata"].items():
        if kind not in ("completeness", "cut"):
            terminal.results.print(
                f"{kind}: {', '.join(f'{k} {v}' for k, v in entries.items())}", soft_wrap=True, markup=False
            )
    carried = ", ".join(f"{name} ({size} bytes)" for name, size in found["attachments"].items())
    terminal.results.print(f"attachments: {carried or 'none'}", soft_wrap=True, markup=False)
    terminal.results.print(found["completeness"]["text"], soft_wrap=True, markup=False)
