"""A run into which faults were injected is repeated from its bag alone: bag == run again(bag)."""

import contextlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blocks.math import Vec3
from graph.bag import Bag
from graph.build import Session, SinkPart
from graph.errors import InputError
from graph.execution import Execution
from graph.memory import NodeMemory
from graph.node import Live
from graph.run import run
from graph.service import Sink, SinkContext
from msgs.fault import Fault
from nodes import fault_injector
from tests.nodes.single import PERIOD, Single
from tests.nodes.worlds import context, world
from tools.bag.proof import Proof
from tools.session import load

MOTOR = {"kind": "motor_scale", "rotor": 1, "thrust_fraction": 0.8, "duration_s": 0.05}


class Hand(Sink):
    """Asks for things once a window has passed, as a viewer does."""

    asked: ClassVar[list[tuple[int, Mapping[str, Any]]]] = []
    replies: ClassVar[list[dict[str, Any]]] = []

    def take(self, end: int, logs: Mapping[str, np.ndarray]) -> None:
        while self.asked and self.asked[0][0] <= end:
            assert self.context.steer is not None
            self.context.steer(self.asked.pop(0)[1], self.replies.append)

    def close(self) -> None:
        pass


def flown(path: Path, runner: str, asked: list[tuple[int, Mapping[str, Any]]], *arguments: str) -> list[dict[str, Any]]:
    """The replies to what was asked at ticks of a flight recorded to ``path``."""
    session, _ = load("sitl", arguments or ["duration=1"])
    Hand.asked, Hand.replies = list(asked), []
    with_hand = Session(**{**vars(session), "sinks": {**session.sinks, "hand": SinkPart(Hand, None)}})
    run(with_hand, Execution(runner=runner, window_ms=10, bag=str(path)))
    return Hand.replies


def order(fault: Mapping[str, Any]) -> dict[str, Any]:
    return {"kind": "order", "node": "fault_injector", "order": dict(fault)}


@pytest.mark.parametrize("runner", ["inline", "fused"])
def test_a_bag_with_injected_faults_is_computed_again_to_the_same_bytes(runner: str, tmp_path: Path) -> None:
    replies = flown(
        tmp_path / "a.mcap", runner, [(200, order(MOTOR)), (200, order({"kind": "link_loss", "duration_s": 0.02}))]
    )
    assert [r["ok"] for r in replies] == [True, True]
    bag = Bag.open(tmp_path / "a.mcap")
    assert bag.counts["faults"] == 4
    assert Proof(bag).everything().report.identical
    assert Proof(bag).node("fault_injector").report.identical


def test_without_an_order_nothing_is_injected(tmp_path: Path) -> None:
    flown(tmp_path / "a.mcap", "inline", [])
    assert Proof(Bag.open(tmp_path / "a.mcap")).everything().report.identical


def test_a_step_is_exact_and_a_pause_holds(tmp_path: Path) -> None:
    session, _ = load("sitl", ["duration=1"])
    ends: list[int] = []

    class Stepper(Sink):
        def __init__(self, opened: SinkContext) -> None:
            super().__init__(opened)
            assert opened.steer is not None
            self.steer: Callable[..., None] = opened.steer
            self.steer({"kind": "pause"}, lambda reply: None)
            self.steer({"kind": "step", "ticks": 17}, self.stepped)

        def stepped(self, reply: dict[str, Any]) -> None:
            ends.append(reply["tick"])
            if len(ends) < 3:
                self.steer({"kind": "step", "ticks": 10}, self.stepped)
            else:
                self.steer({"kind": "resume"}, lambda reply: None)

        def take(self, end: int, logs: Mapping[str, np.ndarray]) -> None:
            pass

        def close(self) -> None:
            pass

    stepped = Session(**{**vars(session), "sinks": {"stepper": SinkPart(Stepper, None)}})
    assert run(stepped, Execution(runner="inline", window_ms=4)).end == 1001
    assert ends == [17, 27, 37]


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        (
            {"kind": "stepp"},
            "request: unknown kind 'stepp'; did you mean step? (valid: order, pause, rate, resume, state, step, stop)",
        ),
        ({"kind": "step", "ticks": 0}, "request.ticks: is 0; must be greater than or equal to 1"),
        ({"kind": "step", "ticks": "9"}, "request.ticks: is the text '9'; must be a whole number"),
        ({"kind": "rate", "factor": -1.0}, "request: factor -1.0: must be max, or 0.001 to 1000000 simulated seconds"),
        ({"kind": "rate", "factor": 1e-300}, "request: factor 1e-300: must be max, or 0.001 to 1000000 simulated"),
        ({"kind": "rate", "factor": 10**400}, "request: factor 1000"),
        (order({"kind": "link_los"}), "order: fault: unknown kind 'link_los'; did you mean link_loss? (valid: "),
        (order({"kind": "link_loss", "start_s": 1}), "fault: start_s: a fault is injected at once"),
        ({"kind": "order", "node": "imu", "order": {}}, "request: node: imu takes no orders (valid: fault_injector)"),
        (7, "request: "),
    ],
)
def test_what_is_not_valid_is_refused_in_words(asked: Any, error: str, tmp_path: Path) -> None:
    (reply,) = flown(tmp_path / "a.mcap", "inline", [(0, asked)], "scenario=null-pad", "duration=0.1")
    assert not reply["ok"]
    assert error in reply["error"]


def test_an_injector_takes_only_so_many_orders(tmp_path: Path) -> None:
    asked: list[tuple[int, Mapping[str, Any]]] = [(0, order({"kind": "link_loss"}))] * (fault_injector.ROWS + 1)
    replies = flown(tmp_path / "a.mcap", "inline", asked, "scenario=null-pad", "duration=0.1")
    assert [r["ok"] for r in replies] == [True] * fault_injector.ROWS + [False]
    assert "takes at most 128 orders in a run" in replies[-1]["error"]


FAULTS = st.sampled_from(
    [{"kind": "link_loss"}, {"kind": "camera_blackout"}, MOTOR, {"kind": "link_loss", "duration_s": 0.003}]
)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 20), FAULTS), max_size=6), st.lists(st.integers(0, 20), max_size=3))
def test_any_mixture_of_scheduled_and_injected_faults_is_repeated(
    injected: list[tuple[int, dict[str, Any]]], scheduled: list[int]
) -> None:
    faults = [{"kind": "link_loss", "start_s": tick * 1e-3} for tick in scheduled]
    setup = fault_injector.configure(context("fault_injector", world("null-pad", faults=faults)))
    said = spoken(setup, injected)
    repeated = fault_injector.repeating(setup, [(m.stamp, m) for m in said])
    assert spoken(repeated or setup, []) == said
    assert (repeated is None) == (not injected)


def spoken(setup: Any, injected: list[tuple[int, dict[str, Any]]]) -> list[Fault]:
    node = Single(fault_injector.fault_injector, setup)
    memory: NodeMemory = node.memory
    told: list[Any] = []
    for tick in range(200):
        for _, fault in [i for i in injected if i[0] == tick]:
            with contextlib.suppress(InputError):  # where it would meet an earlier one
                rows = setup.live.parse(fault, tick * PERIOD, told)
                told.append((tick * PERIOD, rows))
                fault_injector.insert(memory.P[0], memory.S[0], tick * PERIOD, rows)
        node.step(tick * PERIOD)
    return node.sent("faults")


def live_of(faults: list[dict[str, Any]]) -> Live:
    """The orders that the injector of a scenario with these faults takes."""
    live = fault_injector.configure(context("fault_injector", world("null-pad", faults=faults))).live
    assert live is not None
    return live


BIAS = {"kind": "imu_bias_step", "gyro_bias_rad_s": [0.1, 0, 0]}
DELAY = {"kind": "command_delay", "delay_s": 0.04}
CORRUPT = {"kind": "camera_corrupt", "probability": 0.5}


@pytest.mark.parametrize(
    ("earlier", "order", "error"),
    [
        ([], {"kind": "link_loss", "active": False}, "order: active: no link_loss is active that could end"),
        ([(0, BIAS)], {**BIAS, "gyro_bias_rad_s": [0.2, 0, 0], "active": False}, "no imu_bias_step with these values"),
        ([(0, MOTOR)], {**MOTOR, "rotor": 2}, None),
        ([(0, MOTOR)], MOTOR, "order: motor_scale of rotor 1 is active then already; end it first, with active: false"),
        ([(0, CORRUPT)], CORRUPT, "order: camera_corrupt is active then already; end it first"),
        ([(0, CORRUPT), (1, {**CORRUPT, "active": False})], CORRUPT, None),
        ([(0, {"kind": "link_loss"})], {"kind": "link_loss"}, None),
        (
            [(0, {"kind": "link_loss", "duration_s": 2})],
            {"kind": "link_loss", "active": False},
            "order: active: the link_loss ends at 2 s anyway, and can end only once",
        ),
        ([], {"kind": "link_loss", "active": False, "duration_s": 1}, "order: duration_s: an end has no duration"),
        ([(0, DELAY)], DELAY, "order: delay_s: the delays would add up to 0.08 s; must be at most 0.06 s in this run"),
        ([(0, {**DELAY, "duration_s": 0.01})], DELAY, None),
    ],
)
def test_every_fault_of_a_run_begins_and_ends_once(
    earlier: list[tuple[int, dict[str, Any]]], order: dict[str, Any], error: str | None
) -> None:
    live = live_of([{"kind": "command_delay", "delay_s": 0.0}])
    told: list[Any] = []
    for at_s, fault in earlier:
        told.append((at_s * 10**9, live.parse(fault, at_s * 10**9, told)))
    now = 1_500_000_000 if len(earlier) > 1 else 20_000_000
    if error is None:
        assert live.parse(order, now, told)
    else:
        with pytest.raises(InputError) as caught:
            live.parse(order, now, told)
        assert error in str(caught.value)


def test_an_order_that_a_fault_of_the_scenario_would_meet_is_refused() -> None:
    live = live_of([{"kind": "motor_scale", "rotor": 1, "thrust_fraction": 0.5, "start_s": 3}])
    assert live.parse({**MOTOR, "duration_s": 1}, 10**9, [])
    with pytest.raises(InputError, match="motor_scale of rotor 1 is active then already; it begins again at 3 s"):
        live.parse({**MOTOR, "duration_s": 2.5}, 10**9, [])


def test_commands_cannot_be_delayed_where_nothing_holds_them_back(tmp_path: Path) -> None:
    (reply,) = flown(tmp_path / "a.mcap", "inline", [(0, order(DELAY))], "scenario=null-pad", "duration=0.1")
    assert "no delay line" in reply["error"]
    delaying = "fault=command_delay:delay=0"
    (reply,) = flown(tmp_path / "b.mcap", "inline", [(0, order(DELAY))], "scenario=null-pad", "duration=0.1", delaying)
    assert reply["ok"]


def test_more_faults_than_an_injector_holds_are_refused() -> None:
    setup = fault_injector.configure(context("fault_injector", world("null-pad")))
    zero = Vec3(0.0, 0.0, 0.0)
    recorded = [(t, Fault(t, zero, zero, 0.0, 4, 0, True)) for t in range(fault_injector.ROWS + 1)]
    with pytest.raises(InputError, match="129 faults begin or end in it; a run has at most 128"):
        fault_injector.repeating(setup, recorded)
