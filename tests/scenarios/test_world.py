"""A world is a pure function of its files and its seed, and its resolved texts give it back."""

import math
from itertools import pairwise

import pytest

from graph.config import parse_yaml
from graph.errors import InputError
from scenarios import library
from scenarios.randomization import Draw, draw
from scenarios.scenario import CameraBlackout, CameraCorrupt, Randomization
from scenarios.world import World

NOMINAL = Randomization(
    mass_fraction=0.05,
    inertia_fraction=0.10,
    drag_fraction=0.10,
    motor_time_constant_fraction=0.10,
    start_xy_m=0.2,
    start_yaw_rad=0.05,
)
BOUNDS = (0.05, 0.10, 0.10, 0.10, 0.2, 0.2, 0.05)


def offsets(drawn: Draw) -> list[float]:
    """What was drawn, as offsets from nominal."""
    return [x - 1.0 for x in drawn[:4]] + list(drawn[4:7])


@pytest.mark.parametrize("name", library.names("scenario"))
def test_the_resolved_texts_give_the_same_world_back(name: str) -> None:
    world = World.load(name, seed=99, duration=3.5, course="a2rl-2025-split-s")
    again = World.from_resolved(world.resolved())
    assert again == world
    assert again.resolved() == world.resolved()
    assert again.plant_params() == world.plant_params()


def test_resolved_configuration_states_what_is_flown() -> None:
    scenario = parse_yaml(World.load("null-pad", seed=5, duration=1, baseline="b0-gt-pid").resolved()["scenario"], "x")
    assert (scenario["seed"], scenario["duration_s"], scenario["baseline"]) == (5, 1.0, "b0-gt-pid")


def test_an_incomplete_resolved_configuration_is_refused() -> None:
    texts = World.load("null-pad").resolved()
    del texts["course"], texts["vehicle"]
    with pytest.raises(InputError) as caught:
        World.from_resolved(texts)
    assert str(caught.value) == "no vehicle and no course in the resolved configuration"


def test_draws_are_reproducible_and_differ_between_seeds() -> None:
    draws = [draw(seed, NOMINAL, ()) for seed in range(100)]
    assert draws == [draw(seed, NOMINAL, ()) for seed in range(100)]
    assert len(set(draws)) == 100


def test_draws_have_not_changed_since_the_first_bags() -> None:
    assert draw(1, NOMINAL, ()) == Draw(
        mass_factor=0.9755777358970723,
        inertia_factor=0.984790280604327,
        drag_factor=1.0138462069894738,
        motor_time_constant_factor=0.9755416448168636,
        start_offset_x_m=0.024319621633508516,
        start_offset_y_m=-0.19895389618815856,
        start_offset_yaw_rad=-0.018258456091656085,
        fault_shift_s=(),
    )


def test_draws_fill_their_bounds_and_stay_within_them() -> None:
    columns = list(zip(*(offsets(draw(seed, NOMINAL, ())) for seed in range(500)), strict=True))
    for values, bound in zip(columns, BOUNDS, strict=True):
        assert max(map(abs, values)) <= bound * (1 + 1e-12)
        assert max(values) > 0.95 * bound
        assert min(values) < -0.95 * bound
        # Mean of 500 uniform draws: standard deviation bound / sqrt(1500).
        assert abs(sum(values) / 500) < 4 * bound / math.sqrt(1500)


def test_draws_of_different_quantities_are_uncorrelated() -> None:
    columns = list(zip(*(offsets(draw(seed, NOMINAL, ())) for seed in range(500)), strict=True))
    for i, a in enumerate(columns):
        for j, b in enumerate(columns[:i]):
            correlation = sum(x * y for x, y in zip(a, b, strict=True)) / (500 * BOUNDS[i] * BOUNDS[j] / 3)
            assert abs(correlation) < 4 / math.sqrt(500)


def test_no_bound_and_no_fault_shifts_another_draw() -> None:
    full = offsets(draw(3, NOMINAL, ()))
    for index, field in enumerate(("mass", "inertia", "drag", "motor_time_constant")):
        without = offsets(draw(3, NOMINAL.model_copy(update={f"{field}_fraction": 0.0}), ()))
        assert without[index] == 0.0
        assert without[:index] + without[index + 1 :] == full[:index] + full[index + 1 :]
    faults = (CameraBlackout(kind="camera_blackout", start_s=2.0, start_jitter_s=1.0),)
    assert draw(3, NOMINAL, faults)[:7] == draw(3, NOMINAL, ())[:7]


def test_nothing_is_drawn_without_randomization() -> None:
    world = World.load("null-pad")
    assert world.draw == Draw(1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, ())
    assert world.plant_params() == world.nominal_params()
    assert world.start() == ((8.0, 22.0, 0.2), math.radians(35))


def test_the_plant_is_the_nominal_vehicle_times_the_draw() -> None:
    world = World.load("b0-nominal")
    plant, nominal, drawn = world.plant_params(), world.nominal_params(), world.draw
    assert plant.mass == nominal.mass * drawn.mass_factor
    assert plant.inertia == tuple(j * drawn.inertia_factor for j in nominal.inertia)
    assert plant.drag_linear == tuple(d * drawn.drag_factor for d in nominal.drag_linear)
    assert plant.drag_quadratic == tuple(d * drawn.drag_factor for d in nominal.drag_quadratic)
    assert plant.rotor_time_constant == nominal.rotor_time_constant * drawn.motor_time_constant_factor
    assert plant.ground_z == world.course.ground_z_m == 0.2
    same = ("rotor_x", "rotor_y", "spin", "thrust_coefficient", "torque_coefficient", "max_rotor_speed", "gravity")
    assert all(getattr(plant, field) == getattr(nominal, field) for field in same)


def test_faults_act_at_the_times_drawn() -> None:
    shifting = CameraCorrupt(kind="camera_corrupt", probability=0.5, start_s=2.0, end_s=3.0, start_jitter_s=0.5)
    fixed = CameraBlackout(kind="camera_blackout", start_s=1.0)
    base = World.load("null-pad")
    scenario = base.scenario.model_copy(update={"faults": (shifting, fixed)})
    texts = World(scenario, base.vehicle, base.course, base.baseline, base.seed, base.draw).resolved()
    worlds = [World.from_resolved(texts).with_seed(seed) for seed in range(20)]
    for world in worlds:
        first, second = world.faults()
        shift = world.draw.fault_shift_s[0]
        assert abs(shift) <= 0.5
        assert (first.start_s, first.end_s) == (2.0 + shift, 3.0 + shift)
        assert second == fixed
    assert len({world.faults()[0].start_s for world in worlds}) == 20


def test_with_seed_equals_loading_with_that_seed() -> None:
    assert World.load("b0-nominal").with_seed(17) == World.load("b0-nominal", seed=17)
    with pytest.raises(InputError, match=r"^scenario b0-nominal: seed: is -1"):
        World.load("b0-nominal").with_seed(-1)


@pytest.mark.parametrize(("name", "length_m"), [("a2rl-2025", 178.3), ("a2rl-2025-split-s", 169.2)])
def test_the_courses_have_their_published_length(name: str, length_m: float) -> None:
    gates = World.load("b0-nominal", course=name).course.lap
    loop = [gate.position_m for gate in (*gates, gates[0])]
    assert sum(math.dist(a, b) for a, b in pairwise(loop)) == pytest.approx(length_m, abs=0.05)


def test_the_sequence_orders_the_lap() -> None:
    texts = World.load("b0-nominal").resolved()
    texts["course"] += "sequence: [3, 1, 3]\n"
    assert [gate.id for gate in World.from_resolved(texts).course.lap] == [3, 1, 3]
