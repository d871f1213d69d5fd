"""A node stepped alone from what was recorded says again what it said: step(inputs(run)) == run, for any latency."""

import pytest

from graph.blame import inputs_at
from graph.node import Setup
from graph.recording import Recording
from graph.replay import step_alone
from graph.wiring import Graph, Instance, connect
from tests.graph.test_inline import messages
from tests.graph.toys.graphs import MS, counter_at
from tests.graph.toys.summer import Params, State, summer

TICKS = 60


def hearing_itself(rate_hz: int, latency_ns: int) -> Graph:
    """A summer that hears itself a tick late, and adds what it then says after a latency of its own."""
    inputs = {"number": "total", "feedback": "number"}
    setup = Setup(Params(1e9), State(1.0), rate_hz, {"total": latency_ns} if latency_ns else {})
    node = Instance("summer", summer, setup, inputs, {"total": "total"})
    return connect([counter_at(1000), node], MS, [("summer", "number")])


@pytest.mark.parametrize("rate_hz", [1000, 333, 90])
@pytest.mark.parametrize("latency_ns", [0, 1, 400_000, MS - 1, MS, MS + 1, 3 * MS])
def test_a_delayed_edge_with_a_latency(rate_hz: int, latency_ns: int) -> None:
    graph = hearing_itself(rate_hz, latency_ns)
    end, logs = messages(graph, TICKS, 7)
    recording = Recording(graph, end, logs)
    assert step_alone(recording, "summer")["total"].tobytes() == logs["total"].tobytes()
    # Each step says one plus all it has heard up to the newest, which the inputs at its tick name.
    said = logs["total"]["data"]["value"].tolist()
    for k, value in enumerate(said):
        given = inputs_at(recording, graph.instance("summer"), graph.instance("summer").first_tick(k, MS))
        newest = next(g.value for g in given if g.port == "number")
        heard = [0] if newest is None else [n + 1 for n, v in enumerate(said) if v == newest.value]
        assert value in [1.0 + sum(said[:n]) for n in heard]
