"""Listening to a running session from outside: what the topic commands do."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from graph.bag.ros2msg import dtype_of
from graph.bag.scan import Schema
from graph.config import did_you_mean
from graph.errors import InputError
from graph.process.register import is_alive, running
from graph.process.transport import session
from msgs.cdr import HEADER
from msgs.units import NS_PER_S
from tools import terminal

BACKLOG = 10_000
"""Messages that wait to be printed; the oldest are left out, so that a slow reader never holds up a run."""
POLL_S = 0.02


class Heard(NamedTuple):
    """A message and when it came, wall time in s."""

    topic: str
    at: float
    payload: bytes


def chosen_run(run: str | None) -> dict[str, Any]:
    """The running session named, or the only one. Raises InputError."""
    runs = running()
    if not runs:
        raise InputError("no session is running; start one with: holeshot launch sitl (runner process)")
    ids = [r["run"] for r in runs]
    if run is not None:
        if run not in ids:
            raise InputError(f"--run {run}: no such run{did_you_mean(run, ids)}; running: {', '.join(ids)}")
        return runs[ids.index(run)]
    if len(runs) > 1:
        texts = ", ".join(f"{r['run']} ({r['launch']} {r['scenario']})" for r in runs)
        raise InputError(f"several sessions are running; choose one with --run: {texts}")
    return runs[0]


def chosen_topics(run: Mapping[str, Any], names: Sequence[str]) -> list[dict[str, Any]]:
    """The topics named, all of them without a name. Raises InputError for an unknown one."""
    topics = {t["name"]: t for t in run["topics"]}
    for name in names:
        if name not in topics:
            raise InputError(
                f"run {run['run']} has no topic {name}{did_you_mean(name, topics)}; topics: {', '.join(topics)}"
            )
    return [topics[name] for name in names] if names else list(topics.values())


class Subscription:
    """Hears topics of a run."""

    def __init__(self, run: Mapping[str, Any], heard: deque[Heard]) -> None:
        self._run = run
        self._heard = heard
        self.left_out = 0

    def wait(self, until: float | None = None) -> Iterator[Heard]:
        """Messages as they come, until the run is over or the time ``until`` (monotonic, s)."""
        while until is None or time.monotonic() < until:
            alive = is_alive(self._run["pid"])
            while self._heard:
                yield self._heard.popleft()
                if until is not None and time.monotonic() >= until:
                    return
            if not alive:
                return
            time.sleep(POLL_S)


@contextmanager
def listening(run: Mapping[str, Any], topics: Sequence[Mapping[str, Any]]) -> Iterator[Subscription]:
    """A subscription to ``topics`` within the block."""
    heard: deque[Heard] = deque(maxlen=BACKLOG)
    with session(run["zenoh"]) as opened:
        subscription = Subscription(run, heard)

        def hear(topic: str) -> Any:
            def on_sample(sample: Any) -> None:
                if len(heard) == BACKLOG:
                    subscription.left_out += 1
                heard.append(Heard(topic, time.monotonic(), sample.payload.to_bytes()))

            return on_sample

        kept = [opened.declare_subscriber(t["key"], hear(t["name"])) for t in topics]
        yield subscription
        kept.clear()


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
