"""The shipped files load, and a mistake in a file of the user's own is named with its file, key and remedy."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graph.errors import InputError
from scenarios import library
from scenarios.world import World

ROOT = Path(__file__).parents[2]


def shipped(kind: str, name: str) -> str:
    return (ROOT / library.FOLDERS[kind] / f"{name}.yaml").read_text(encoding="utf-8")


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str, str], World]:
    """Loads b0-nominal with one of its files replaced by an edited copy, `mine.yaml`."""
    monkeypatch.chdir(tmp_path)

    def edited(kind: str, old: str, new: str) -> World:
        text = shipped(
            kind, {"scenario": "b0-nominal", "vehicle": "rp-1", "course": "a2rl-2025"}.get(kind, "b0-gt-pid")
        )
        assert old in text
        Path("mine.yaml").write_text(text.replace(old, new, 1), encoding="utf-8")
        files: dict[str, Any] = {kind: "mine.yaml"}
        return World.load(files.pop("scenario", "b0-nominal"), **files)

    return edited


def test_the_shipped_names() -> None:
    assert {kind: library.names(kind) for kind in library.FOLDERS} == {
        "scenario": ["b0-determinism", "b0-nominal", "null-pad", "scripted-hop"],
        "vehicle": ["rp-1"],
        "course": ["a2rl-2025", "a2rl-2025-split-s"],
        "baseline": ["b0-gt-pid", "null", "scripted-hop"],
    }


@pytest.mark.parametrize("name", library.names("scenario"))
def test_every_scenario_loads_and_is_called_like_its_file(name: str) -> None:
    world = World.load(name)
    assert world.scenario.name == name
    for kind in ("vehicle", "course", "baseline"):
        assert getattr(world, kind).name in library.names(kind)
        assert getattr(world.scenario, kind) == getattr(world, kind).name


@pytest.mark.parametrize("name", library.names("course"))
def test_every_course_loads_and_is_called_like_its_file(name: str) -> None:
    assert World.load("b0-nominal", course=name).course.name == name


@pytest.mark.parametrize(
    ("kind", "old", "new", "expected"),
    [
        (
            "scenario",
            "laps: 2",
            "lap: 2",
            "mine.yaml: lap: unknown key; did you mean laps? (valid keys: baseline, course, duration_s, faults, laps, "
            "name, randomization, seed, sim, speed_limit_m_s, vehicle)",
        ),
        (
            "vehicle",
            "  line_delay_s",
            "  wings: 2\n  line_delay_s",
            "mine.yaml: camera.wings: unknown key (valid keys: cx_px, cy_px, distortion, fx_px, fy_px, height_px, "
            "line_delay_s, position_m, rate_hz, tilt_up_deg, width_px)",
        ),
        (
            "scenario",
            "duration_s: 120",
            "duration_s: long",
            "mine.yaml: duration_s: is the text 'long'; must be a number",
        ),
        ("scenario", "laps: 2", "laps: 9", "mine.yaml: laps: is 9; must be less than or equal to 8"),
        ("scenario", "seed: 1", "seed: -1", "mine.yaml: seed: is -1; must be greater than or equal to 0"),
        (
            "scenario",
            "laps: 2",
            "faults: [{kind: gust}]",
            "mine.yaml: faults[0]: unknown kind 'gust' (valid: camera_blackout, camera_corrupt, command_delay, "
            "imu_bias_step, link_loss, motor_scale)",
        ),
        (
            "scenario",
            "laps: 2",
            "faults: [{kind: link_loss, start_s: 3, end_s: 2}]",
            "mine.yaml: faults[0].end_s: is 2.0; must be greater than start_s, 3.0",
        ),
        (
            "scenario",
            "laps: 2",
            "faults: [{kind: motor_scale, rotor: 4, thrust_fraction: 0.5}]",
            "mine.yaml: faults[0].rotor: is 4; must be less than or equal to 3",
        ),
        (
            "scenario",
            "laps: 2",
            "faults: [{kind: camera_corrupt, probability: 0.5, start_s: 2, start_jitter_s: 0.5}, {kind: link_loss}, "
            "{kind: camera_corrupt, probability: 0.1, end_s: 1.6}]",
            "mine.yaml: faults[2]: may act while faults[0] does; one camera_corrupt must end before the next begins",
        ),
        (
            "scenario",
            "laps: 2",
            "faults: [{kind: motor_scale, rotor: 3, thrust_fraction: 0.5}, "
            "{kind: motor_scale, rotor: 3, thrust_fraction: 0.6, start_s: 9}]",
            "mine.yaml: faults[1]: may act while faults[0] does; one motor_scale of rotor 3 must end before the next "
            "begins",
        ),
        (
            "scenario",
            "laps: 2",
            "sim: {physics_rate_hz: 700}",
            "mine.yaml: sim.physics_rate_hz: is 700; must divide a second into whole nanoseconds",
        ),
        (
            "scenario",
            "laps: 2",
            "sim: {physics_rate_hz: 500}",
            "vehicle rp-1: imu.rate_hz: is 1000; must be at most sim.physics_rate_hz of scenario b0-nominal, 500\n"
            "vehicle rp-1: fc.rate_hz: is 1000; must be at most sim.physics_rate_hz of scenario b0-nominal, 500",
        ),
        (
            "scenario",
            "vehicle: rp-1",
            "vehicle: rp1",
            "unknown vehicle 'rp1'; did you mean rp-1? (valid: rp-1, or the path of a .yaml file)",
        ),
        ("vehicle", "mass_kg: 1.0", "mass_kg: -1.0", "mine.yaml: mass_kg: is -1.0; must be greater than 0"),
        ("vehicle", "mass_kg: 1.0", "mass_kg: .nan", "mine.yaml: mass_kg: is nan; must be a finite number"),
        ("vehicle", "mass_kg: 1.0", "", "mine.yaml: mass_kg: missing (mass, kg)"),
        (
            "vehicle",
            "mass_kg: 1.0",
            "mass_kg: 1\nmass_kg: 2",
            "mine.yaml:6:1: duplicate key 'mass_kg', first given in line 5",
        ),
        (
            "vehicle",
            "mass_kg: 1.0",
            "mass_kg: [1",
            "mine.yaml:8:1: expected ',' or ']', but got '<scalar>' (while parsing a flow sequence)",
        ),
        ("vehicle", "rotor_count: 4", "rotor_count: 3", "mine.yaml: rotor_count: is 3; must be 4"),
        ("vehicle", "[1, 1, -1, -1]", "[1, 1, -1, 0]", "mine.yaml: rotor.spins[3]: is 0; must be -1 or 1"),
        (
            "vehicle",
            "thrust_coefficient: 8.9e-7",
            "thrust_coefficient: 8.9e-310",
            "vehicle rp-1: thrust_coefficient is 8.9e-310, must be a normal number of the scalar type (at least "
            "2.2250738585072014e-308)",
        ),
        (
            "vehicle",
            "[0.0027, 0.0051, 0.0075]",
            "[0.0027, 0.0051, 0.0175]",
            "mine.yaml: inertia_kg_m2: is [0.0027, 0.0051, 0.0175]; no rigid body has one moment of inertia above the "
            "sum of the other two",
        ),
        (
            "vehicle",
            "idle_speed_rad_s: 340",
            "idle_speed_rad_s: 4000",
            "mine.yaml: rotor.idle_speed_rad_s: is 4000.0; must be less than max_speed_rad_s, 3711.0",
        ),
        (
            "vehicle",
            "gyro_cutoff_hz: 80",
            "gyro_cutoff_hz: 500",
            "mine.yaml: fc.gyro_cutoff_hz: is 500.0; must be less than half of fc.rate_hz, 500.0",
        ),
        (
            "course",
            "gates:\n",
            "sequence: [1, 2, 12]\ngates:\n",
            "mine.yaml: sequence[2]: unknown gate 12 (valid: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)",
        ),
        ("course", "{id: 3,", "{id: 1,", "mine.yaml: gates[2].id: is 1, which gates[0] has already"),
        (
            "course",
            "[14, 25, 1.47]",
            "[14, 25, 0.1]",
            "mine.yaml: gates[0].position_m: has z 0.1; must be above the ground, 0.2 m (start.position_m)",
        ),
        (
            "course",
            "[14, 25, 1.47]",
            "[14, 45, 1.47]",
            "mine.yaml: gates[0].position_m: is [14.0, 45.0, 1.47]; must lie within bounds",
        ),
        (
            "course",
            "[8, 22, 0.2]",
            "[8, 22, -1]",
            "mine.yaml: start.position_m: is [8.0, 22.0, -1.0]; must lie within bounds",
        ),
        (
            "course",
            "max_m: [97, 29, 10]",
            "max_m: [97, 29, 0]",
            "mine.yaml: bounds.max_m: is [97.0, 29.0, 0.0]; must be greater than min_m, [-1.0, -3.0, 0.0]",
        ),
        (
            "course",
            "outer_size_m: [2.7, 2.7]",
            "outer_size_m: [2.7, 1.4]",
            "mine.yaml: gates[0].outer_size_m: is [2.7, 1.4]; must be at least inner_size_m, [1.5, 1.5]",
        ),
        (
            "baseline",
            "  planner: WaypointPlanner\n",
            "",
            "mine.yaml: slots.planner: missing (turns the state estimate into a reference)",
        ),
        (
            "baseline",
            "lookahead_m: 0.3",
            "lookahead_m: [0.3]",
            "mine.yaml: parameters.lookahead_m: is a list; must be a finite number, true or false, or a text",
        ),
    ],
)
def test_a_mistake_is_named_with_its_remedy(
    load: Callable[[str, str, str], World], kind: str, old: str, new: str, expected: str
) -> None:
    with pytest.raises(InputError) as caught:
        load(kind, old, new)
    assert str(caught.value) == expected


def test_an_unknown_name_lists_the_valid_ones() -> None:
    with pytest.raises(InputError) as caught:
        World.load("b0-nominl")
    assert str(caught.value) == (
        "unknown scenario 'b0-nominl'; did you mean b0-nominal? "
        "(valid: b0-determinism, b0-nominal, null-pad, scripted-hop, or the path of a .yaml file)"
    )
    with pytest.raises(InputError) as caught:
        World.load("b0-nominal", course="monza")
    assert str(caught.value) == (
        "unknown course 'monza' (valid: a2rl-2025, a2rl-2025-split-s, or the path of a .yaml file)"
    )


def test_a_path_that_leads_nowhere_is_named(tmp_path: Path) -> None:
    path = tmp_path / "none.yaml"
    with pytest.raises(InputError) as caught:
        World.load(str(path))
    assert str(caught.value) == f"{path}: no such file or directory"


@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf")])
def test_an_override_is_checked_like_the_file(value: float) -> None:
    with pytest.raises(InputError, match=r"^scenario b0-nominal: duration_s: is "):
        World.load("b0-nominal", duration=value)


def test_a_scenario_names_files_beside_itself(tmp_path: Path) -> None:
    (tmp_path / "heavy.yaml").write_text(shipped("vehicle", "rp-1").replace("mass_kg: 1.0", "mass_kg: 1.2"), "utf-8")
    mine = tmp_path / "mine.yaml"
    mine.write_text(shipped("scenario", "b0-nominal").replace("vehicle: rp-1", "vehicle: ./heavy.yaml"), "utf-8")
    world = World.load(str(mine))
    assert world.vehicle.mass_kg == 1.2
    assert world.scenario.vehicle == "rp-1"
