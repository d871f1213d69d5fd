"""What the nodes of a graph said in a recorded run, read from its bag and checked to be such a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from graph.bag import Bag
from graph.bag.column import Column
from graph.bag.marks import CUT, is_settled
from graph.bag.ros2msg import dtype_of
from graph.build import Session
from graph.errors import InputError
from graph.memory import Array
from graph.wiring import Graph
from msgs.layout import record_dtype
from msgs.message import log_dtype
from msgs.schema import name_of
from msgs.units import NS_PER_S


@dataclass(frozen=True)
class Recording:
    """What was said on each topic, as (delivery tick, record), before tick ``end``: the first not fully recorded."""

    graph: Graph
    end: int
    logs: Mapping[str, Array]

    def columns(self, logs: Mapping[str, Array] | None = None) -> dict[str, Column]:
        """``logs`` (the recorded ones by default) before the end, ready to be compared."""
        return {name: _column(log, self.end, self.graph.period_ns) for name, log in (logs or self.logs).items()}


def recorded(bag: Bag, session: Session) -> Recording:
    """The messages of ``bag``, which the graph of ``session`` recorded.

    A run that ended early is read up to its last complete tick. Raises InputError when the bag does not hold what a run
    of this graph records: a topic is absent or has other fields, times are no ticks of the run.
    """
    graph = session.graph
    _check_heads(bag, [*(t.name for t in graph.topics), *(t.name for d in session.derived for t in d.topics)])
    cut = bag.metadata.get(CUT)
    if cut is not None and cut.get("from_ns") != "0":
        raise InputError(
            f"{bag.path}: is a part of a bag without its beginning, from which its nodes would have to be stepped"
        )
    logs = {
        t.name: _log(bag, t.name, t.message, graph.period_ns, session.ticks)
        for t in graph.topics
        if t.name in bag.counts
    }
    last = max((int(log["tick"][-1]) for log in logs.values() if len(log)), default=-1)
    # Without the recorder's last word the last tick may be recorded in part.
    end = last + 1 if is_settled(bag.metadata) else last
    if end <= 0:
        raise InputError(f"{bag.path}: holds no complete tick of a run")
    return Recording(graph, end, logs)


def _check_heads(bag: Bag, topics: Sequence[str]) -> None:
    """Raises InputError when what stands before a message is not as a recorder writes it."""
    for topic in topics:
        if topic not in bag.counts:
            continue
        heads, where = bag.heads(topic), f"{bag.path}: topic {topic}"
        if not np.array_equal(heads["sequence"], np.arange(len(heads))):
            raise InputError(f"{where}: its messages are not numbered from 0 without a gap")
        if (heads["publish_time"] != heads["log_time"]).any():
            raise InputError(f"{where}: has a message that was published at another time than it was delivered at")


def _log(bag: Bag, topic: str, message: type, period_ns: int, ticks: int) -> Array:
    schema = bag.schemas[topic]
    where = f"{bag.path}: topic {topic}"
    if schema.name != name_of(message) or dtype_of(schema) != record_dtype(message):
        raise InputError(
            f"{where}: was recorded as another {schema.name or 'type'} than the {name_of(message)} of this version"
        )
    channel = bag.channel(topic, record_dtype(message))
    times = channel["log_time"]
    if len(times) and (times[0] < 0 or (times % period_ns).any() or (times[1:] < times[:-1]).any()):
        raise InputError(f"{where}: its times are not ticks of {period_ns} ns in order: this is no bag of one run")
    if len(times) and times[-1] // period_ns >= ticks:
        raise InputError(f"{where}: has a message at {times[-1] / NS_PER_S:g} s, beyond the end of the run")
    log = np.zeros(len(times), log_dtype(message))
    log["tick"] = times // period_ns
    opaque(log)["data"] = channel["data"].view(np.dtype((np.void, record_dtype(message).itemsize)))
    return log


def opaque(log: Array) -> Array:
    """``log`` with its records as bytes, which numpy copies whole."""
    data = np.dtype((np.void, log.dtype["data"].itemsize))
    slot = {"names": ["tick", "data"], "formats": ["<i8", data], "offsets": [0, 8], "itemsize": log.dtype.itemsize}
    return log.view(np.dtype(slot))  # type: ignore[call-overload]


def _column(log: Array, end: int, period_ns: int) -> Column:
    log = log[: np.searchsorted(log["tick"], end)]
    return Column.of(log["tick"] * period_ns, log["data"])
