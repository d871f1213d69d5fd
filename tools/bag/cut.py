"""``holeshot bag cut``: a part of a bag."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Annotated

import typer

from graph.errors import InputError


def cut(
    source: Annotated[Path, typer.Argument(metavar="IN", help="the bag")],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="the new bag")],
    begin: Annotated[float, typer.Option("--from", metavar="S", help="first simulated time kept, s")] = 0.0,
    end: Annotated[
        float | None, typer.Option("--to", metavar="S", help="simulated time from which nothing is kept, s")
    ] = None,
    topics: Annotated[str | None, typer.Option(metavar="A,B", help="the topics kept; by default all")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print the result as one JSON line")] = False,
) -> None:
    """Write a part of a bag to a new one, attachments included, and read it back to check it.

    Example: holeshot bag cut flight.mcap gate3.mcap --from 12 --to 15.5 --topics truth,imu
    """
    from graph.bag import Bag
    from graph.bag.cut import cut as cut_bag
    from graph.bag.marks import TO_THE_END
    from tools import terminal

    limit = math.inf if end is None else end
    if not begin >= 0 or not limit > begin:
        raise InputError(f"--from {begin:g} --to {limit:g}: --from must be at least 0 s, --to greater than --from")
    with terminal.working(f"cutting {source}"):
        bag = Bag.open(source)
        if begin * 1e9 > bag.end_time:
            raise InputError(f"--from {begin:g}: the bag ends at {bag.end_time * 1e-9:.3f} s")
        kept = bag.topics if topics is None else tuple(t.strip() for t in topics.split(","))
        to_ns = TO_THE_END if limit * 1e9 > TO_THE_END else round(limit * 1e9)
        counts = cut_bag(bag, target, round(begin * 1e9), to_ns, kept)
    if as_json:
        print(json.dumps({"bag": str(target), "counts": counts}))
    else:
        print(f"{target}: {sum(counts.values())} messages of {len(counts)} topics")
