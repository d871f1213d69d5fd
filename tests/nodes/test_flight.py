"""Baseline B0 flies both courses; a run depends on its seed and on nothing else.

fly(world) == fly(world), byte by byte, with the loop compiled or interpreted; other seeds differ
"""

import numpy as np
import pytest

from msgs.score import Verdict
from tests.nodes.loop import fly
from tests.nodes.worlds import world


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(("course", "laps"), [("a2rl-2025", (42.3, 42.7)), ("a2rl-2025-split-s", (40.6, 41.0))])
def test_b0_flies_two_laps_within_the_speed_limit(course, laps, seed):
    flight = fly(world("b0-nominal", course_name=course, seed=seed))
    (score,) = flight.values("score")
    assert Verdict(score.reason) is Verdict.COMPLETE
    assert score.success
    assert (score.gates_passed, score.gates_total, score.laps) == (22, 22, 2)
    assert score.lap_times[:2] == pytest.approx(laps, abs=0.3)
    assert all(np.isnan(score.lap_times[2:]))
    assert 4.4 < score.max_speed < 5.0
    assert score.gate_error_max < 0.75
    worst = max(flight.values("passage"), key=lambda passage: passage.gate_error)
    assert worst.gate == 10  # gate 11, behind three corners just under the corner angle


def test_b0_passes_every_gate_in_order_with_the_estimate_where_the_truth_is():
    passages = fly(world("b0-nominal", seed=1)).values("passage")
    assert [p.gate for p in passages] == list(range(11)) * 2
    assert [p.lap for p in passages] == [0] * 11 + [1] * 11
    for p in passages:
        assert p.estimated_gate_error == pytest.approx(p.gate_error, abs=1e-4)
        assert p.time == pytest.approx(p.stamp * 1e-9, abs=1.001e-3)


def test_a_flight_depends_on_its_seed_and_on_nothing_else():
    one, again, other = (fly(world("b0-determinism", seed=seed)) for seed in (1, 1, 2))
    for topic, messages in one.messages.items():
        assert messages.tobytes() == again.messages[topic].tobytes(), topic
    for topic in ("truth", "imu", "camera", "estimate", "thrust_rates", "rotor_command"):
        assert one.messages[topic].tobytes() != other.messages[topic].tobytes(), topic


def test_the_compiled_loop_and_the_interpreted_one_say_the_same_bytes():
    compiled, interpreted = (fly(world("b0-determinism"), compiled=way) for way in (True, False))
    for topic, messages in compiled.messages.items():
        assert messages.tobytes() == interpreted.messages[topic].tobytes(), topic


def test_the_truth_logged_at_a_tick_is_the_state_the_command_of_that_tick_drives_on():
    flight = fly(world("b0-determinism", duration_s=1.0))
    np.testing.assert_array_equal(flight.seconds("truth"), flight.seconds("rotor_command"))
    assert len(flight.messages["truth"]) == 1001  # both ends included


def test_with_the_null_baseline_the_vehicle_rests_on_the_pad():
    flight = fly(world("null-pad"))
    (score,) = flight.values("score")
    assert score.success
    assert Verdict(score.reason) is Verdict.COMPLETE
    assert score.stamp == 2_000_000_000
    truth = flight.messages["truth"]
    assert truth["on_ground"].all()
    assert np.ptp(truth["position"]["z"]) == 0.0
    assert not flight.messages["rotor_command"]["speeds"].any()
    assert len(flight.messages["thrust_rates"]) == len(flight.messages["motors"]) == 0
    assert len(flight.messages["reference"]) == 0
    assert len(flight.messages["camera"]) == 181
    assert not flight.messages["fc_status"]["mode"].any()


@pytest.mark.parametrize("seed", range(1, 9))
def test_the_scripted_hop_takes_off_and_lands_within_its_five_seconds(seed):
    flight = fly(world("scripted-hop", seed=seed))
    (score,) = flight.values("score")
    assert score.success
    grounded = flight.messages["truth"]["on_ground"]
    assert not grounded[1000:2500].any()
    assert grounded[-100:].all()
    assert 0.5 < np.ptp(flight.messages["truth"]["position"]["z"]) < 4.0
    rates = flight.messages["truth"]["body_rates"]
    assert abs(rates["x"]).max() > 0.3
    assert abs(rates["y"]).max() > 0.3
    assert len(flight.messages["faults"]) == 2
