"""Waypoint planner: the path, progress that never goes back, straight gate approaches, speeds, yaw, bad parameters."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baselines.waypoint_planner import waypoint
from blocks.math import Quat, Vec3
from graph.errors import InputError
from tests.baselines.slots import Slot
from tests.nodes.messages import ZERO, estimate
from tests.nodes.worlds import world

NAMES = ("a2rl-2025", "a2rl-2025-split-s")
WORLDS = {name: world("b0-nominal", course_name=name) for name in NAMES}
START = Vec3(8.1, 21.9, 0.2)


def planner(course="a2rl-2025"):
    return Slot("planner", "WaypointPlanner", WORLDS[course])


def plan(slot, at):
    return slot.call("plan", 0, estimate(position=Vec3(*at)))


def path_of(slot, start=START):
    """Every waypoint, one row each."""
    plan(slot, start)
    return np.array([waypoint(slot.params, slot.state.start, i) for i in range(slot.params.waypoints)])


def fly(slot, start=START, step=0.05):
    """Move a point towards the carrot until the end of the path; the references on the way, and where the point was."""
    at, said = np.array(start, dtype=float), []
    for _ in range(20_000):
        reference = plan(slot, at).value
        said.append((reference, at.copy()))
        if np.linalg.norm(reference.velocity) == 0.0 and np.linalg.norm(np.subtract(reference.position, at)) < step:
            return said
        way = np.subtract(reference.position, at)
        at = at + way * min(1.0, step / max(np.linalg.norm(way), 1e-12))
    raise AssertionError("the end of the path was not reached")


@pytest.mark.parametrize("course", NAMES)
def test_the_path_climbs_from_where_the_vehicle_is_and_then_runs_through_every_gate_of_every_lap(course):
    path = path_of(planner(course))
    gates = WORLDS[course].course.lap
    assert len(path) == 2 + 3 * 2 * len(gates)
    assert tuple(path[0]) == START
    assert tuple(path[1]) == (START.x, START.y, gates[0].position_m[2])
    for index in range(2 * len(gates)):
        before, centre, behind = path[2 + 3 * index : 5 + 3 * index]
        gate = gates[index % len(gates)]
        normal = [math.cos(math.radians(gate.yaw_deg)), math.sin(math.radians(gate.yaw_deg)), 0.0]
        assert tuple(centre) == gate.position_m
        np.testing.assert_allclose(centre - before, np.multiply(2.0, normal), atol=1e-12)
        np.testing.assert_allclose(behind - centre, np.multiply(2.0, normal), atol=1e-12)


@pytest.mark.parametrize("course", NAMES)
def test_the_segment_never_decreases_stays_in_range_and_progress_reaches_the_end(course):
    """Invariants I1 and I2, over a whole flight."""
    slot = planner(course)
    said = fly(slot)
    segments = [r.segment for r, _ in said]
    assert segments == sorted(segments)
    assert (segments[0], segments[-1]) == (0, slot.params.waypoints - 2)
    path = path_of(slot)
    length = np.linalg.norm(np.diff(path, axis=0), axis=1).sum()
    assert said[-1][0].progress == pytest.approx(length, abs=0.1)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.floats(-10, 100), st.floats(-10, 30), st.floats(0, 10)), min_size=1, max_size=30))
def test_wherever_the_vehicle_jumps_the_segment_never_decreases_nor_leaves_the_path(places):
    slot, last = planner(), 0
    for place in places:
        segment = plan(slot, place).value.segment
        assert last <= segment < slot.params.waypoints - 1
        last = segment


@pytest.mark.parametrize("course", NAMES)
def test_every_gate_is_approached_and_left_straight_along_its_normal_through_its_centre(course):
    slot = planner(course)
    for reference, _ in fly(slot):
        index, part = divmod(reference.segment - 2, 3)
        if index >= 0 and part < 2:
            gate = WORLDS[course].course.lap[index % 11]
            yaw = math.radians(gate.yaw_deg)
            offset = np.subtract(reference.position, gate.position_m)
            assert abs(-math.sin(yaw) * offset[0] + math.cos(yaw) * offset[1]) < 1e-9
            assert abs(offset[2]) < 1e-9
            assert math.cos(reference.yaw - yaw) == pytest.approx(1.0)
            speed = np.linalg.norm(reference.velocity)
            np.testing.assert_allclose(
                reference.velocity, np.multiply(speed, [math.cos(yaw), math.sin(yaw), 0.0]), atol=1e-9
            )


def test_the_carrot_lies_a_lookahead_ahead_of_the_projection_and_never_past_the_segment_s_end():
    slot = planner()
    plan(slot, START)
    beside = plan(slot, (START.x + 0.4, START.y - 0.2, 0.3)).value
    assert beside.position == pytest.approx((START.x, START.y, 0.6))
    assert beside.progress == pytest.approx(0.1)
    below = plan(slot, (START.x, START.y, 0.0)).value
    assert below.position == pytest.approx((START.x, START.y, 0.5))


def test_the_next_segment_begins_within_the_switch_radius_of_the_corner():
    slot = planner()
    plan(slot, START)
    assert plan(slot, (START.x, START.y, 1.47 - 1.001)).value.segment == 0
    assert plan(slot, (START.x, START.y, 1.47 - 0.999)).value.segment == 1


def test_the_next_segment_begins_also_when_the_end_is_passed_further_away():
    slot = planner()
    plan(slot, START)
    assert plan(slot, (START.x + 5.0, START.y, 1.46)).value.segment == 0
    assert plan(slot, (START.x - 5.0, START.y, 1.48)).value.segment >= 1


def test_speed_is_cruise_and_lower_within_the_radius_of_a_sharp_corner_on_both_sides():
    slot = planner()
    path, radius = path_of(slot), slot.params.corner_radius
    corners = {}
    for i in range(1, len(path) - 1):
        a, b = (path[j + 1] - path[j] for j in (i - 1, i))
        corners[i] = math.degrees(math.acos(np.clip(a @ b / np.linalg.norm(a) / np.linalg.norm(b), -1, 1)))
    slot = planner()
    seen = set()
    for reference, at in fly(slot):
        speed = np.linalg.norm(reference.velocity)
        ends = [i for i in (reference.segment, reference.segment + 1) if i in corners]
        near = any(corners[i] > 60.0 and np.linalg.norm(at - path[i]) < radius for i in ends)
        last = reference.segment == len(path) - 2
        if not last:
            assert speed == pytest.approx(2.5 if near else 4.0)
            seen.add(near)
    assert seen == {True, False}
    assert any(50.0 < angle < 60.0 for angle in corners.values())  # just under the limit: flown at cruise


def test_it_ends_holding_at_the_last_point_behind_the_last_gate():
    slot = planner()
    path = path_of(slot)
    reference, _ = fly(slot)[-1]
    assert reference.velocity == ZERO
    np.testing.assert_allclose(reference.position, path[-1], atol=1e-9)


def test_on_a_vertical_segment_the_last_heading_is_held():
    """The climb holds the vehicle's own heading; below gate 5 of the split-S the path goes straight down."""
    slot = planner("a2rl-2025-split-s")
    half = 0.4
    first = slot.call("plan", 0, estimate(position=START, attitude=Quat(math.cos(half), 0.0, 0.0, math.sin(half))))
    assert first.value.yaw == pytest.approx(0.8)
    slot = planner("a2rl-2025-split-s")
    path = path_of(slot)
    down = [i for i in range(1, len(path) - 1) if np.linalg.norm((path[i + 1] - path[i])[:2]) < 1e-6]
    assert len(down) == 2
    yaws = {reference.segment: reference.yaw for reference, _ in fly(slot)}
    for segment in down:
        assert yaws[segment] == yaws[segment - 1]
        assert math.cos(yaws[segment + 1] - yaws[segment]) == pytest.approx(-1.0)


def test_while_the_estimate_is_not_healthy_it_plans_nothing_and_does_not_start():
    slot = planner()
    reference = slot.call("plan", 0, estimate(position=Vec3(1.0, 1.0, 1.0), healthy=False))
    assert not reference.present
    plan(slot, START)
    assert tuple(slot.state.start) == START


def test_without_laps_it_plans_one():
    slot = Slot("planner", "WaypointPlanner", world("b0-determinism"))
    assert slot.params.waypoints == 2 + 3 * 11


def test_waypoints_that_coincide_are_taken_once():
    gates = [
        {"id": i, "position_m": (x, 0.0, 2.0), "yaw_deg": 0.0, "inner_size_m": (1.5, 1.5), "outer_size_m": (2.7, 2.7)}
        for i, x in ((1, 10.0), (2, 14.0))
    ]
    course = {"gates": gates, "sequence": (1, 2)}
    slot = Slot("planner", "WaypointPlanner", world("b0-nominal", course=course))
    assert slot.params.rows == 5
    fly(slot)


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("lookahead_m", 0.0, "is 0.0; must be a number greater than 0"),
        ("cruise_speed_m_s", -1.0, "is -1.0; must be a number greater than 0"),
        ("cruise_speed_m_s", "fast", "is the text 'fast'; must be a number greater than 0"),
        ("gate_approach_m", True, "is true; must be a number greater than 0"),
        ("corner_speed_m_s", 4.5, "is 4.5; must be a number greater than 0 and at most 4"),
        ("corner_angle_deg", 181.0, "is 181.0; must be a number at least 0 and at most 180"),
        ("corner_radius_m", -0.1, "is -0.1; must be a number at least 0"),
        (
            "switch_radius_m",
            0.3,
            "is 0.3; must be greater than lookahead_m, 0.3: the vehicle stops that far short of a corner",
        ),
    ],
)
def test_a_bad_parameter_is_refused_by_file_key_value_and_what_is_valid(key, value, text):
    with pytest.raises(InputError) as caught:
        Slot("planner", "WaypointPlanner", world("b0-nominal", parameters={key: value}))
    assert str(caught.value) == f"baseline b0-gt-pid: parameters.{key}: {text}"
