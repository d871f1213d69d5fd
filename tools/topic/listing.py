"""What topics a running session has."""

from __future__ import annotations

import json

from tools import terminal
from tools.running_session import chosen_run


def list_topics(run: str | None, as_json: bool) -> None:
    """``holeshot topic list``."""
    found = chosen_run(run)
    if as_json:
        print(json.dumps({key: found[key] for key in ("run", "launch", "scenario", "seed", "topics")}))
        return
    rows = [
        (t["name"], t["schema_name"].rpartition("/")[2], t["publisher"], ", ".join(t["subscribers"]))
        for t in found["topics"]
    ]
    terminal.table(f"run {found['run']}: {found['launch']} {found['scenario']}", rows, ("topic", "type", "from", "to"))
