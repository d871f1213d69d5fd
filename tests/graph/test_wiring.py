"""Wiring is data, checked before anything starts; a mismatch names both ports, both nodes and both types."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.errors import InputError
from graph.wiring import connect
from nodes.imu import imu
from tests.graph.toys.graphs import MS, counter_at, pair, summer_at

FEEDBACK = [("summer", "feedback")]


def refusal(instances, delayed=(), order=()):
    with pytest.raises(InputError) as caught:
        connect(instances, MS, delayed, order)
    return str(caught.value)


def test_producers_step_before_consumers_whatever_the_order_given():
    for instances in ([counter_at(1000), summer_at(1000)], [summer_at(1000), counter_at(1000)]):
        assert [i.name for i in connect(instances, MS, FEEDBACK).instances] == ["counter", "summer"]


def test_the_bag_lists_first_what_order_names():
    graph = connect([counter_at(1000), summer_at(1000)], MS, FEEDBACK, ["total"])
    assert [t.name for t in graph.topics] == ["total", "number"]


def test_who_nobody_in_the_loop_waits_for_is_a_leaf():
    alone = replace(summer_at(1000, name="tail"), outputs={"total": "tail_total"})
    assert connect([counter_at(1000), summer_at(1000), alone], MS, FEEDBACK).leaves == {"tail"}


def test_unknown_port():
    bad = replace(counter_at(1000), outputs={"number": "number", "numbr": "x"})
    assert refusal([bad]) == (
        "node counter (tests.graph.toys.counter.counter) has no output port numbr; did you mean number?; "
        "its output ports: number"
    )


def test_unconnected_input():
    bad = replace(summer_at(1000), inputs={"number": "number"})
    assert refusal([counter_at(1000), bad]) == (
        "node summer (tests.graph.toys.summer.summer): input feedback is not connected; "
        "name its topic under inputs: {feedback: TOPIC}"
    )


def test_topic_that_nobody_publishes():
    assert refusal([counter_at(1000), summer_at(1000, number="numbre")], FEEDBACK) == (
        "input summer.number (Number) listens on topic numbre, which nobody publishes; did you mean number?; "
        "topics: number, total"
    )


def test_type_mismatch():
    listener = replace(
        summer_at(1000), node=imu, inputs={"truth": "number", "faults": "number"}, outputs={"imu": "imu"}
    )
    assert refusal([counter_at(1000), listener]) == (
        "topic number: output counter.number publishes Number, but input summer.faults expects Fault"
    )


def test_two_publishers():
    assert refusal([counter_at(1000), counter_at(1000, name="other")]) == (
        "topic number has two publishers: counter.number (Number) and other.number (Number); "
        "give one of them another topic"
    )


def test_cycle_without_a_delay():
    assert refusal([counter_at(1000), summer_at(1000)]) == (
        "a cycle with no delay: summer.feedback <- summer; list one of these inputs under delayed"
    )


def test_delay_on_what_is_not_there():
    instances = [counter_at(1000), summer_at(1000)]
    assert refusal(instances, [("sumer", "feedback")]) == (
        "delayed: sumer.feedback: no node sumer; did you mean summer?; nodes: counter, summer"
    )
    assert refusal(instances, [("summer", "back")]) == (
        "delayed: summer.back: node summer has no input back; did you mean feedback?; its inputs: number, feedback"
    )


def test_order_of_a_topic_twice():
    text = refusal([counter_at(1000), summer_at(1000)], FEEDBACK, ["total", "number", "total"])
    assert text == "order: topic total stands there 2 times; name it once"


def test_order_of_a_topic_that_is_not_there():
    assert refusal([counter_at(1000)], order=["nmber"]) == "order: no topic nmber; did you mean number?; topics: number"


@pytest.mark.parametrize("rate", [0, -5, 1001])
def test_rate_faster_than_the_tick(rate):
    assert refusal([counter_at(rate)]) == (
        f"node counter: rate {rate} Hz is not between 1 Hz and the tick rate of 1000 Hz"
    )


@given(st.integers(1, 1000), st.integers(0, 10_000))
def test_a_step_fires_at_the_first_tick_at_or_after_its_time(rate, k):
    instance = counter_at(rate)
    tick = instance.first_tick(k, MS)
    assert (tick - 1) * MS * rate < k * 1_000_000_000 <= tick * MS * rate


@given(st.integers(1, 1000), st.integers(0, 10_000))
def test_the_step_at_or_after_a_tick(rate, tick):
    instance = counter_at(rate)
    k = instance.step_at_or_after(tick, MS)
    assert instance.first_tick(k, MS) >= tick
    assert k == 0 or instance.first_tick(k - 1, MS) < tick


def test_a_graph_knows_its_delayed_edges():
    assert pair().delayed == {("total", "summer")}
