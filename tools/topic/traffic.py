"""How many messages and bytes a running session publishes."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from graph.errors import InputError
from msgs.cdr import HEADER
from msgs.units import NS_PER_S
from tools import terminal
from tools.running_session import chosen_run, chosen_topics
from tools.subscription import Heard, listening


class Measured(NamedTuple):
    """What was heard of one topic."""

    topic: str
    messages: int
    hz_simulated: float | None  # messages per simulated s, by their stamps
    hz_wall: float
    bytes_per_s: float
    bytes_per_message: int | None


def measured(topics: Sequence[str], run: str | None, seconds: float) -> list[Measured]:
    """Listen for ``seconds`` of wall time. Raises InputError."""
    if not math.isfinite(seconds):
        raise InputError(f"--seconds {seconds:g}: must be a finite time in s")
    found = chosen_run(run)
    chosen = chosen_topics(found, topics)
    heard: dict[str, list[Heard]] = {t["name"]: [] for t in chosen}
    with listening(found, chosen) as subscription, terminal.working(f"listening for {seconds:g} s"):
        begun = time.monotonic()
        for message in subscription.wait(begun + seconds):
            heard[message.topic].append(message)
        took = time.monotonic() - begun
    return [_measured(name, messages, took) for name, messages in heard.items()]


def _measured(topic: str, messages: Sequence[Heard], took: float) -> Measured:
    stamps = [_stamp(m.payload) for m in (messages[0], messages[-1])] if messages else [0, 0]
    span = stamps[1] - stamps[0]
    size = sum(len(m.payload) for m in messages)
    return Measured(
        topic=topic,
        messages=len(messages),
        hz_simulated=(len(messages) - 1) * NS_PER_S / span if span > 0 else None,
        hz_wall=len(messages) / took,
        bytes_per_s=size / took,
        bytes_per_message=size // len(messages) if messages else None,
    )


def _stamp(payload: bytes) -> int:
    """Every message begins with its stamp: int32 sec, uint32 nanosec."""
    sec, nanosec = np.frombuffer(payload, "<u4", 2, offset=len(HEADER)).tolist()
    return int(sec) * NS_PER_S + int(nanosec)


def rates(topics: Sequence[str], run: str | None, seconds: float, as_json: bool) -> None:
    """``holeshot topic hz``."""
    found = measured(topics, run, seconds)
    if as_json:
        keys = ("topic", "messages", "hz_simulated", "hz_wall")
        print(json.dumps([{key: getattr(m, key) for key in keys} for m in found]))
        return
    rows = [(m.topic, str(m.messages), text_of(m.hz_simulated), text_of(m.hz_wall)) for m in found]
    terminal.table(f"heard in {seconds:g} s", rows, ("topic", "messages", "Hz simulated", "Hz wall"))


def bandwidth(topics: Sequence[str], run: str | None, seconds: float, as_json: bool) -> None:
    """``holeshot topic bw``."""
    found = measured(topics, run, seconds)
    if as_json:
        keys = ("topic", "messages", "bytes_per_s", "bytes_per_message")
        print(json.dumps([{key: getattr(m, key) for key in keys} for m in found]))
        return
    rows = [(m.topic, str(m.messages), text_of(m.bytes_per_s), str(m.bytes_per_message or "-")) for m in found]
    total = ("all", str(sum(m.messages for m in found)), text_of(sum(m.bytes_per_s for m in found)), "")
    terminal.table(f"heard in {seconds:g} s", [*rows, total], ("topic", "messages", "bytes/s wall", "bytes/message"))


def text_of(value: float | None) -> str:
    """A number of a table; a dash where there is none."""
    return "-" if value is None else f"{value:.1f}"
