"""What may be asked of a running session from outside.

A request is a JSON object such as ``{"kind": "step", "ticks": 10}``. The reply is ``{"ok": true, "tick": ..., "time_s":
..., "paused": ..., "rate": ...}``, or ``{"ok": false, "error": ...}``. A pause holds at ``tick``, a step is answered
when every node has done it or a pause ended it, an order takes effect at ``tick``. None of it changes what is computed,
except an order to a node, which the node's own messages record.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from graph.config import Config
from graph.errors import InputError

Respond = Callable[[dict[str, Any]], None]
"""Takes the reply to a request."""
Steer = Callable[[Mapping[str, Any], Respond], None]
"""Asks something of a run; the reply comes from another thread."""
OVER = "the run is over"
LARGEST_REQUEST = 64 * 1024
"""Bytes of a request that are read."""


def refusal(why: str) -> dict[str, Any]:
    """The reply to a request that is not obeyed."""
    return {"ok": False, "error": why}


class State(Config):
    """Asks how things stand."""

    kind: Literal["state"]


class Pause(Config):
    """Holds the run where it is."""

    kind: Literal["pause"]


class Resume(Config):
    """Lets a held run go on."""

    kind: Literal["resume"]


class Step(Config):
    """Lets a run go on for some ticks, and holds it there."""

    kind: Literal["step"]
    ticks: int = Field(default=1, ge=1, le=10_000_000, description="ticks to go on")


class Rate(Config):
    """Paces the run."""

    kind: Literal["rate"]
    factor: Any = Field(description="simulated seconds per second, or max")


class Stop(Config):
    """Ends the run."""

    kind: Literal["stop"]


class Order(Config):
    """Tells a node something."""

    kind: Literal["order"]
    node: str = Field(description="name of the node")
    order: dict[str, Any] = Field(description="what the node is told")


class Request(Config):
    """Any request."""

    request: Annotated[State | Pause | Resume | Step | Rate | Stop | Order, Field(discriminator="kind")]


def read_request(data: bytes) -> Any:
    """A request as it came over the wire. Raises InputError when it is none."""
    if len(data) > LARGEST_REQUEST:
        raise InputError(f"a request of {len(data)} bytes; must be at most {LARGEST_REQUEST}")
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        raise InputError("a request must be a JSON object") from None
    if not isinstance(value, dict):
        raise InputError("a request must be a JSON object")
    return value
