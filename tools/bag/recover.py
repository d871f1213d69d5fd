"""``holeshot bag recover``: a complete bag of one that was cut off."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer


def recover(
    source: Annotated[Path, typer.Argument(metavar="IN", help="the bag that was cut off")],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="the new bag")],
    as_json: Annotated[bool, typer.Option("--json", help="print the result as one JSON line")] = False,
) -> None:
    """Copy everything in front of the first damage to a new, complete bag, and read it back to check it.

    Example: holeshot bag recover crashed.mcap recovered.mcap
    """
    from graph.bag import recover as recover_bag
    from tools import terminal

    with terminal.working(f"recovering {source}"):
        found = recover_bag(source, target)
    if as_json:
        print(json.dumps({"bag": str(target), "counts": found.counts, "damage": found.damage}))
    else:
        print(f"{source}: {found.damage or 'was complete'}")
        print(f"{target}: {sum(found.counts.values())} messages of {len(found.counts)} topics")
