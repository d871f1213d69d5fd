"""The player: a recorded bag as a source, so that a stack runs against recorded sensors, in lockstep with the rest.

Its outputs are topics of the bag, each message at the tick it was delivered at. What it says depends on the bag and the
time alone; the run ends where the bag ends. It is plain Python.
"""

from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pydantic import Field

from graph.bag import Bag
from graph.bag.ros2msg import dtype_of
from graph.config import Config
from graph.errors import InputError
from graph.node import Context, Maybe, Node, Setup
from graph.node import node as declare
from msgs.catalog import message_named
from msgs.layout import record_dtype
from msgs.record import read
from msgs.units import NS_PER_S
from scenarios.world import World

OPENED_AT_ONCE = 2


class Options(Config):
    """Options of the player."""

    bag: str = Field(min_length=1, description="path of the bag")
    topics: tuple[str, ...] = Field(default=(), description="topics played, each an output; by default all")


class Params(NamedTuple):
    """None: the bag is all there is."""


class State(NamedTuple):
    """Nothing to remember: what is played depends on the time alone."""


class Track(NamedTuple):
    """The messages of one topic."""

    topic: str
    message: type
    records: np.ndarray[Any, Any]
    at: dict[int, int]  # index of the message delivered at a tick


@lru_cache(OPENED_AT_ONCE)
def _opened(path: str, changed_ns: int) -> Bag:
    return Bag.open(path)


def opened(path: str) -> Bag:
    """The bag at ``path``, read once for as long as it does not change. Raises InputError."""
    file = Path(path)
    return _opened(path, file.stat().st_mtime_ns) if file.is_file() else Bag.open(path)


def track_of(bag: Bag, topic: str, period_ns: int) -> Track:
    """One topic by tick.

    Raises InputError when it cannot be played: its type is unknown or has other fields by now, its times are not ticks,
    or two messages share one.
    """
    times = bag.heads(topic)["log_time"]
    schema = bag.schemas[topic]
    message = message_named(schema.name)
    if message is None or dtype_of(schema) != record_dtype(message):
        raise InputError(f"{bag.path}: topic {topic}: no {schema.name} of this version; leave it out of topics")
    ticks = times // period_ns
    if (times % period_ns).any() or (np.diff(ticks) <= 0).any():
        raise InputError(
            f"{bag.path}: topic {topic}: its messages do not follow each other tick by tick of {period_ns} ns"
        )
    records = bag.channel(topic, record_dtype(message))["data"]
    return Track(topic, message, records, {tick: place for place, tick in enumerate(ticks.tolist())})


def node_for(world: World, options: Options) -> Node:
    """The node whose outputs are the bag's topics: optional ones, except those with a message at every tick."""
    bag = opened(options.bag)
    period_ns = NS_PER_S // world.scenario.sim.physics_rate_hz
    playable = [t for t in bag.topics if bag.encodings[t] == "cdr"]
    tracks = [track_of(bag, topic, period_ns) for topic in options.topics or playable]
    last = bag.end_time // period_ns
    steady = {t.topic for t in tracks if len(t.at) == last + 1}
    fields = [(t.topic, _port(t.message, t.topic in steady)) for t in tracks]
    out_type = _out_type([*fields, ("stop", bool)])

    def player(p: Params, s: State, t: int) -> tuple[State, out_type]:  # type: ignore[valid-type]
        """What was delivered at t."""
        tick = t // period_ns
        said = {}
        for track in tracks:
            # A step beyond the end, made before the end was known, repeats what is always there; it counts for nothing.
            place = track.at.get(min(tick, last) if track.topic in steady else tick)
            value = None if place is None else read(track.records[place], track.message)
            said[track.topic] = value if track.topic in steady else Maybe(present=place is not None, value=value)
        return s, out_type(**said, stop=tick >= last)

    return declare(python=True)(player)


def _port(message: Any, always: bool) -> Any:
    return message if always else Maybe[message]


def _out_type(fields: list[tuple[str, Any]]) -> Any:
    return NamedTuple("Out", fields)


def configure(context: Context) -> Setup:
    """One step per tick."""
    return Setup(params=Params(), state=State(), rate_hz=context.world.scenario.sim.physics_rate_hz)
