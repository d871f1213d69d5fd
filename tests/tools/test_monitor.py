"""The invariant monitor: the first violation stops the run, is named, and leaves the one step that led there.

And the altimeter story: a caller writes the height between two steps, and the monitor finds the caller.
"""

import json
from pathlib import Path

import pytest

from blocks import quadrotor
from blocks.math import Quat, Vec3
from blocks.monitor import NONE, state_violation
from graph.bag import Bag
from graph.errors import InputError
from scenarios.repro import load, repro_of, sentence, step_again, write
from scenarios.world import World
from tests.tools.runs import Command

BROKEN = str(Path(__file__).parent / "toys/broken.yaml")


@pytest.mark.parametrize("runner", ["inline", "process", "fused"])
def test_a_violation_stops_the_run_and_is_named(holeshot: Command, tmp_path: Path, runner: str) -> None:
    bag = tmp_path / "run.mcap"
    code, _, err = holeshot("launch", BROKEN, "monitor=on", "--runner", runner, "--record", bag)
    assert code == 1
    # The command of tick 100 drives the step from there; its result must not be stepped on.
    assert "invariant monitor: I4 (non_finite) before step 101, " in err
    assert Bag.open(bag).end_time == 101_000_000
    repro = tmp_path / "run.repro.yaml"
    assert f"holeshot bag verify --repro {repro}" in err
    code, out, _ = holeshot("bag", "verify", "--repro", repro)
    assert code == 1
    assert out.startswith("step 100 again violates I4 (non_finite): ")
    assert json.loads(holeshot("bag", "verify", "--repro", repro, "--json")[1])["violation"] == "I4"


def test_without_the_monitor_the_run_goes_on(holeshot: Command, tmp_path: Path) -> None:
    bag = tmp_path / "run.mcap"
    assert holeshot("launch", BROKEN, "--runner", "inline", "--record", bag)[0] == 0
    assert Bag.open(bag).end_time == 2_000_000_000
    assert "violation" not in Bag.open(bag).topics


def test_a_monitored_run_is_proven_like_any_other(holeshot: Command, tmp_path: Path) -> None:
    bag = tmp_path / "run.mcap"
    holeshot("launch", BROKEN, "monitor=on", "--runner", "inline", "--record", bag)
    assert holeshot("bag", "verify", bag, "--all", "--trust")[0] == 0


def test_the_monitor_changes_nothing_of_a_good_flight(holeshot: Command, flight: Path, tmp_path: Path) -> None:
    bag = tmp_path / "run.mcap"
    arguments = ["scenario=b0-determinism", "duration=1.25", "monitor=on", "--runner", "inline", "--record", bag]
    assert holeshot("launch", "sitl", *arguments)[0] == 0
    code, _, _ = holeshot("bag", "diff", flight, bag, "--ignore", "violation")
    assert code == 0


STEPS = 1200
DT = 1e-3
CORRECTION_M = -0.02
EVERY = 100  # steps


def test_the_altimeter_story(tmp_path: Path) -> None:
    """The vehicle hovers at 0.3 m and sinks on 3 % less than hover speed; every 0.1 s its caller takes 2 cm off."""
    p = World.load("null-pad").nominal_params()._replace(ground_z=0.0)
    hover = quadrotor.hover_rotor_speed(p)
    still = Vec3(0.0, 0.0, 0.0)
    command = (0.97 * hover,) * 4
    x = quadrotor.State(Vec3(0.0, 0.0, 0.3), still, Quat(1.0, 0.0, 0.0, 0.0), still, (hover,) * 4, 0.0, False)
    before, touched_down = x, -1
    for step in range(STEPS):
        if step % EVERY == 0:
            x = x._replace(position=x.position._replace(z=x.position.z + CORRECTION_M))
        found = state_violation(p, x)
        if found.kind != NONE:
            break
        before, x = x, quadrotor.step(p, x, command, DT)
        if x.on_ground and touched_down < 0:
            touched_down = step + 1
    assert round(touched_down * DT, 2) == 0.76
    repro = repro_of(p, before, command, DT, x, found, step)
    assert sentence(repro) == "I5 (below_ground) before step 800, position.z = -0.02 m < ground_z = 0 m"

    path = tmp_path / "altimeter.repro.yaml"
    write(path, repro)
    assert load(path) == repro
    again = step_again(load(path))
    assert again.invariant == ""
    assert again.text == (
        "step 799 again keeps every invariant; the state found differs in position.z: "
        "it was changed between two steps, or the model since"
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("mass: ", "maas: ", "vehicle: unknown or missing keys maas, mass"),
        ("dt_s: 0.001", "dt_s: -1.0", "dt_s: is -1.0; must be greater than 0"),
        ("mass: 1.0", "mass: -1.0", "vehicle: mass is -1.0, must be above 0"),
        ("step: 101", "step: x", "step: is the text 'x'; must be a whole number"),
        ("mass: 1.0", "mass: [1.0]", "vehicle.mass: is"),
    ],
)
def test_a_repro_file_that_is_not_valid(holeshot: Command, tmp_path: Path, old: str, new: str, message: str) -> None:
    bag = tmp_path / "run.mcap"
    holeshot("launch", BROKEN, "monitor=on", "--runner", "inline", "--record", bag)
    path = tmp_path / "run.repro.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    code, out, err = holeshot("bag", "verify", "--repro", path)
    assert (code, out) == (2, "")
    assert err.startswith(f"holeshot: {path}: {message}")


def test_a_repro_that_cannot_be_written(tmp_path: Path) -> None:
    p = World.load("null-pad").nominal_params()
    still = Vec3(0.0, 0.0, 0.0)
    x = quadrotor.State(Vec3(0.0, 0.0, -1.0), still, Quat(1.0, 0.0, 0.0, 0.0), still, (0.0,) * 4, 0.0, False)
    repro = repro_of(p, x, (0.0, 0.0, 0.0, 0.0), DT, x, state_violation(p, x), 0)
    with pytest.raises(InputError, match="cannot be written"):
        write(tmp_path / "none" / "x.yaml", repro)
