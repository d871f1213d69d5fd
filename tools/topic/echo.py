"""Messages of a running session as text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from graph.bag.ros2msg import dtype_of
from graph.bag.scan import Schema
from msgs.cdr import HEADER
from tools import terminal
from tools.running_session import chosen_run, chosen_topics
from tools.subscription import listening


def echo(topic: str, run: str | None, count: int | None, as_json: bool) -> None:
    """``holeshot topic echo``."""
    found = chosen_run(run)
    [chosen] = chosen_topics(found, [topic])
    dtype = dtype_of(Schema(chosen["schema_name"], "ros2msg", chosen["schema"].encode()))
    with listening(found, [chosen]) as subscription:
        for number, message in enumerate(subscription.wait(), 1):
            value = plain(np.frombuffer(message.payload, dtype, offset=len(HEADER))[0])
            if as_json:
                print(json.dumps(value), flush=True)
            else:
                print("\n".join([*lines(value), "---"]), flush=True)
            if number == count:
                break
    if subscription.left_out:
        terminal.progress.print(
            f"{subscription.left_out} messages came faster than they could be printed and were left out"
        )


def plain(value: Any) -> Any:
    """A record as dictionaries, lists and numbers; a number that is not finite as a text, which JSON does not have."""
    if isinstance(value, np.void):
        return {name: plain(value[name]) for name in value.dtype.names or ()}
    if isinstance(value, np.ndarray):
        return [plain(item) for item in value]
    number = value.item()
    return str(number) if isinstance(number, float) and not np.isfinite(number) else number


def lines(value: Mapping[str, Any], indent: int = 0) -> list[str]:
    """As YAML, with plain lists in one line."""
    out = []
    for name, item in value.items():
        if isinstance(item, Mapping):
            out += [f"{' ' * indent}{name}:", *lines(item, indent + 2)]
        elif isinstance(item, list) and item and isinstance(item[0], Mapping):
            out.append(f"{' ' * indent}{name}:")
            for element in item:
                first, *rest = lines(element, indent + 2)
                out += [f"{' ' * indent}- {first.lstrip()}", *rest]
        else:
            out.append(f"{' ' * indent}{name}: {json.dumps(item)}")
    return out
