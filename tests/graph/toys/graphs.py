"""Small graphs of toy nodes."""

from graph.node import Setup
from graph.wiring import Graph, Instance, connect
from tests.graph.toys.counter import Params as CounterParams
from tests.graph.toys.counter import State as CounterState
from tests.graph.toys.counter import counter
from tests.graph.toys.summer import Params as SummerParams
from tests.graph.toys.summer import State as SummerState
from tests.graph.toys.summer import summer

MS = 1_000_000


def counter_at(rate_hz: int, latency_ns: int = 0, name: str = "counter", topic: str = "number") -> Instance:
    """A counter that publishes on ``topic``."""
    latency = {"number": latency_ns} if latency_ns else {}
    return Instance(name, counter, Setup(CounterParams(1.0), CounterState(0), rate_hz, latency), {}, {"number": topic})


def summer_at(rate_hz: int, limit: float = 1e9, name: str = "summer", number: str = "number") -> Instance:
    """A summer that hears ``number`` and its own total, one tick late."""
    inputs = {"number": number, "feedback": "total"}
    return Instance(name, summer, Setup(SummerParams(limit), SummerState(0.0), rate_hz), inputs, {"total": "total"})


def pair(counter_hz: int = 1000, summer_hz: int = 1000, latency_ns: int = 0, limit: float = 1e9) -> Graph:
    """A counter and a summer that hears itself one tick late."""
    instances = [counter_at(counter_hz, latency_ns), summer_at(summer_hz, limit)]
    return connect(instances, MS, [("summer", "feedback")])
