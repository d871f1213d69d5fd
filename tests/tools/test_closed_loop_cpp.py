"""nodes == C++: the loop of the nodes and a program of the same equations fly the same flight, bit for bit."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from blocks.quadrotor import State
from graph.errors import InputError
from msgs.score import Verdict
from tests.blocks.rp1 import numbers
from tests.cpp import compiled
from tests.nodes.loop import fly
from tests.nodes.worlds import world
from tools.bench.cpp_parameters import closed_loop_parameters

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled("closed_loop", tmp_path_factory.mktemp("cpp"))


def flown(program: Path, parameters: Path, repeats: int = 1) -> dict[str, Any]:
    done = subprocess.run([program, parameters, str(repeats)], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize(("course", "seed"), [("a2rl-2025", 1), ("a2rl-2025", 2), ("a2rl-2025-split-s", 3)])
def test_the_same_flight_to_the_bit(program, tmp_path, course, seed):
    flown_world = world("b0-nominal", course_name=course, seed=seed)
    flight = fly(flown_world)
    (score,) = flight.values("score")
    parameters = tmp_path / "parameters.txt"
    parameters.write_text(closed_loop_parameters(flown_world))
    theirs = flown(program, parameters, repeats=2)

    assert theirs["reason"] == Verdict(score.reason).name.lower()
    assert theirs["lap_times_s"] == list(score.lap_times[: score.laps])
    assert theirs["gates_passed"] == score.gates_passed
    assert theirs["max_speed_m_s"] == score.max_speed
    assert theirs["max_gate_error_m"] == score.gate_error_max
    assert theirs["max_estimated_gate_error_m"] == score.estimated_gate_error_max
    assert theirs["simulated_ms"] == flight.ticks

    truth, imu = flight.values("truth")[-1], flight.values("imu")[-1]
    assert theirs["last_truth"] == numbers(State(*truth[1:]))[:18]
    assert theirs["last_imu"] == [*imu.body_rates, *imu.specific_force]
    frames = flight.values("gates")
    assert theirs["gates_seen"] == sum(frame.visible for frame in frames)
    seen = frames[-1].gates[: frames[-1].visible]
    assert theirs["last_gates"] == [[g.gate, *(x for pixel in g.corners for x in pixel)] for g in seen]
    for took in (theirs["seconds_per_flight"], theirs["ns_per_simulated_ms"]):
        assert 0.0 < took["best"] <= took["median"]


@pytest.mark.parametrize("arguments", [[], ["p"], ["p", "0"], ["p", "x"], ["p", "1", "2"]])
def test_wrong_arguments_say_how(program, arguments):
    done = subprocess.run([program, *arguments], check=False, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == "usage: closed_loop PARAMETERS REPEATS    (REPEATS 1 or more)\n"


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("imu.gyro_range 34.9\n", "", "parameter imu.gyro_range: is missing"),
        ("imu.gyro_range 34.9\n", "imu.gyro_range much\n", "parameter imu.gyro_range: 'much' is not a number"),
        ("imu.gyro_range 34.9\n", "imu.gyro_range 1 2\n", "parameter imu.gyro_range: has 2 values; must have 1"),
    ],
)
def test_a_bad_file_names_the_parameter(program, tmp_path, old, new, problem):
    text = closed_loop_parameters(world("b0-nominal"))
    assert old in text
    (tmp_path / "p.txt").write_text(text.replace(old, new))
    done = subprocess.run([program, tmp_path / "p.txt", "1"], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, f"closed_loop: {problem}\n")


def test_no_file(program):
    done = subprocess.run([program, "nowhere.txt", "1"], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, "closed_loop: nowhere.txt: cannot be read\n")


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ({"baseline": "null"}, "slot estimator is NullEstimator; must be GroundTruthEstimator"),
        (
            {"faults": [{"kind": "link_loss", "start_s": 1.0, "end_s": 1.1}]},
            "has no faults; the scenario has 1",
        ),
        ({"vehicle": {"imu": {"rate_hz": 500}}}, "imu steps at 500 Hz; must be 1000"),
        ({"vehicle": {"imu": {"latency_s": 0.002}}}, "the IMU's latency is 2000000 ns; must be one tick"),
    ],
)
def test_what_the_program_cannot_fly(keys, problem):
    with pytest.raises(InputError) as caught:
        closed_loop_parameters(world("b0-nominal", **keys))
    assert str(caught.value).startswith(f"scenario b0-nominal: the program in C++: {problem}")
