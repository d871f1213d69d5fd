"""``holeshot bag diff``: where two bags differ."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graph.errors import InputError
from tools.exit_codes import FAILED, GOOD

if TYPE_CHECKING:
    from graph.bag import Bag
    from graph.bag.column import Column


def diff(
    a: Annotated[Path, typer.Argument(metavar="A", help="a bag")],
    b: Annotated[Path, typer.Argument(metavar="B", help="another bag")],
    ignore: Annotated[
        list[str] | None,
        typer.Option(metavar="FIELD", help="topic, field or topic.field to leave out; may be repeated"),
    ] = None,
    tolerance: Annotated[
        float, typer.Option(metavar="X", help="largest distance of two floats that is no difference")
    ] = 0.0,
    as_json: Annotated[bool, typer.Option("--json", help="print the result as one JSON line")] = False,
) -> None:
    """Compare two bags message by message: the first difference, then a summary by topic and field.

    Provenance (versions, machine, attachments) that differs is listed; it does not make the messages differ.

    Exit code 0: every message is the same; 1: they differ; 2: bad input.

    Example: holeshot bag diff before.mcap after.mcap --ignore header --ignore truth.energy --tolerance 1e-9
    """
    if not (math.isfinite(tolerance) and tolerance >= 0):
        raise InputError(f"--tolerance {tolerance}: must be a number of at least 0")
    raise typer.Exit(_diff(a, b, ignore or [], tolerance, as_json))


def _diff(a: Path, b: Path, ignore: list[str], tolerance: float, as_json: bool) -> int:
    from graph.bag import Bag
    from graph.bag.divergence import compare
    from tools import terminal
    from tools.bag.divergence_text import difference_lines, summary_lines

    with terminal.working(f"comparing {a} and {b}"):
        bags = Bag.open(a), Bag.open(b)
        left, right = map(columns, bags)
        _check_ignored(ignore, left, right)
        report = compare(left, right, ignore, tolerance)
    around = provenance(*bags)
    if as_json:
        found = [{"what": name, "a": then, "b": now} for name, then, now in around]
        print(json.dumps({"a": str(a), "b": str(b), **report.json(), "provenance": found}))
        return GOOD if report.identical else FAILED
    print("identical messages" if report.identical else "messages differ")
    if not report.identical:
        for line in [*difference_lines(report, (str(a), str(b)), None), *summary_lines(report)]:
            print(line)
    for name, then, now in around:
        print(f"{name}: {then} in {a}, {now} in {b}")
    return GOOD if report.identical else FAILED


def columns(bag: Bag) -> dict[str, Column]:
    """Every channel ready to be compared: by field where its schema says what they are, else by content as a whole."""
    from graph.bag.column import Column
    from graph.bag.ros2msg import dtype_of

    found, opaque = {}, {}
    for topic in bag.topics:
        if bag.encodings[topic] == "cdr" and bag.schemas[topic].encoding == "ros2msg":
            channel = bag.channel(topic, dtype_of(bag.schemas[topic]))
            found[topic] = Column.of(channel["log_time"], channel["data"])
        else:
            opaque[topic] = list[bytes]()
    for message in bag.messages() if opaque else ():
        if message.topic in opaque:
            opaque[message.topic].append(message.data)
    found |= {topic: Column.opaque(bag.heads(topic)["log_time"], contents) for topic, contents in opaque.items()}
    return {topic: found[topic] for topic in bag.topics}


def _check_ignored(ignore: list[str], *sides: dict[str, Column]) -> None:
    """An entry that names nothing is a misspelt one."""
    from graph.bag.column import leaves
    from graph.config import did_you_mean

    fields = {leaf.path for side in sides for m in side.values() for leaf in leaves(m.dtype)}
    names = set()
    for path in fields:
        parts = path.replace("[", ".[").split(".")
        names |= {".".join(parts[:n]).replace(".[", "[") for n in range(1, len(parts) + 1)}
    topics = {topic for side in sides for topic in side}
    for entry in ignore:
        head, _, rest = entry.partition(".")
        if entry not in names | topics and not (head in topics and rest in names):
            valid = f"topics: {', '.join(sorted(topics))}"
            raise InputError(
                f"--ignore {entry}: is no topic and no field{did_you_mean(entry, names | topics)}; {valid}"
            )


def provenance(a: Bag, b: Bag) -> list[tuple[str, str, str]]:
    """Metadata and attachments that differ, with a word for either side."""
    from graph.bag.marks import COMPLETENESS, CUT

    found = []
    for kind in dict.fromkeys([*a.metadata, *b.metadata]):
        if kind in (COMPLETENESS, CUT):  # what the messages show anyway
            continue
        then, now = a.metadata.get(kind, {}), b.metadata.get(kind, {})
        for key in dict.fromkeys([*then, *now]):
            if then.get(key) != now.get(key):
                found.append((f"{kind}.{key}", then.get(key, "nothing"), now.get(key, "nothing")))
    for name in dict.fromkeys([*a.attachments, *b.attachments]):
        if a.attachments.get(name) != b.attachments.get(name):
            sizes = [f"{len(bag.attachments[name])} bytes" if name in bag.attachments else "nothing" for bag in (a, b)]
            found.append((f"attachment {name}", f"{sizes[0]}", f"other {sizes[1]}"))
    return found
