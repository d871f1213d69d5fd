"""``holeshot bag export``: the messages as CSV, Parquet or numpy files, one per topic."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graph.errors import InputError, why

if TYPE_CHECKING:
    from graph.bag import Bag

Columns = dict[str, Any]


def export(
    bag: Annotated[Path, typer.Argument(metavar="BAG", help="the bag")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="the folder; it is made if there is none")],
    kind: Annotated[str, typer.Option("--format", help="csv, parquet or npz")] = "csv",
    topics: Annotated[
        str | None, typer.Option(metavar="A,B", help="the topics; by default all of plain numbers")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print the result as one JSON line")] = False,
) -> None:
    """Write each topic as a table: delivery time in ns, number in the bag, then one column per field.

    Numbers in CSV are the shortest decimal that reads back as the same number.

    Example: holeshot bag export flight.mcap --format csv --out flight --topics truth,estimate
    """
    write = writer(kind)
    from graph.bag import Bag
    from graph.files import whole
    from tools import terminal

    opened = Bag.open(bag)
    chosen = _chosen(opened, topics)
    files = {topic: out / f"{topic.strip('/').replace('/', '_')}.{kind}" for topic in chosen}
    for path in files.values():
        same = [other for other, its in files.items() if its == path]
        if len(same) > 1:
            raise InputError(f"--topics: {' and '.join(same)} would both be written to {path}; export one at a time")
    taken = next((path for path in files.values() if path.exists()), None)
    if taken is not None:
        raise InputError(f"{taken}: exists already and is not overwritten, name another folder with --out")
    try:
        out.mkdir(parents=True, exist_ok=True)
        with terminal.working(f"exporting {bag}"):
            for topic, path in files.items():
                with whole(path) as part:
                    write(part, columns(opened, topic))
    except OSError as error:
        raise InputError(f"--out {out}: cannot be written: {why(error)}") from None
    if as_json:
        print(json.dumps({topic: str(path) for topic, path in files.items()}))
    else:
        for topic, path in files.items():
            print(f"{path}: {opened.counts[topic]} messages")


def _chosen(bag: Bag, topics: str | None) -> list[str]:
    plain = [t for t in bag.topics if bag.encodings[t] == "cdr" and bag.schemas[t].encoding == "ros2msg"]
    if topics is None:
        return plain
    chosen = [t.strip() for t in topics.split(",")]
    for topic in chosen:
        bag.heads(topic)
        if topic not in plain:
            raise InputError(
                f"--topics {topic}: its messages are no rows of numbers; those that are: {', '.join(plain)}"
            )
    return chosen


def columns(bag: Bag, topic: str) -> Columns:
    """A topic as columns by name: log_time_ns, log_sequence, then every field's path.

    Raises InputError when a field is called as one of the first two.
    """
    import numpy as np

    from graph.bag.ros2msg import dtype_of
    from msgs.layout import primitives

    dtype = dtype_of(bag.schemas[topic])
    channel = bag.channel(topic, dtype)
    found = {"log_time_ns": channel["log_time"], "log_sequence": channel["sequence"]}
    for path, _, _ in primitives(dtype):
        if path in found:
            raise InputError(f"{bag.path}: topic {topic}: its field {path} is called like a column of the table")
        column = channel["data"]
        for part in path.replace("[", ".[").split("."):
            column = column[:, int(part[1:-1])] if part.startswith("[") else column[part]
        found[path] = np.ascontiguousarray(column)
    return found


def writer(kind: str) -> Callable[[Path, Columns], None]:
    """The function that writes a table. Raises InputError for an unknown format, or without what it needs installed."""
    writers = {"csv": _write_csv, "parquet": _write_parquet, "npz": _write_npz}
    if kind not in writers:
        raise InputError(f"--format {kind}: valid: {', '.join(writers)}")
    if kind == "parquet":
        try:
            import pyarrow  # noqa: F401
        except ImportError:
            raise InputError("--format parquet: needs pyarrow: pip install 'holeshot[parquet]'") from None
    return writers[kind]


def _write_csv(path: Path, table: Columns) -> None:
    import csv

    with path.open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(table)
        rows.writerows(zip(*(column.tolist() for column in table.values()), strict=True))


def _write_parquet(path: Path, table: Columns) -> None:
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.table(table), path)


def _write_npz(path: Path, table: Columns) -> None:
    import numpy as np

    with path.open("wb") as file:
        np.savez_compressed(file, **table)
