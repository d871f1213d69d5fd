"""Camera oracle: projections by hand, which gates are seen, and the camera's faults."""

import math

import numpy as np
import pytest

from blocks.math import Quat, Vec3
from msgs.fault import FaultKind
from msgs.gate_observations import MAX_VISIBLE_GATES
from nodes import camera_oracle
from tests.nodes.messages import fault, truth
from tests.nodes.single import PERIOD, Single
from tests.nodes.worlds import context, world

AHEAD = {
    "rate_hz": 90,
    "fx_px": 300.0,
    "fy_px": 300.0,
    "cx_px": 400.0,
    "cy_px": 300.0,
    "width_px": 800,
    "height_px": 600,
    "distortion": (0.0, 0.0, 0.0, 0.0),
    "position_m": (0.0, 0.0, 0.0),
    "tilt_up_deg": 0.0,
}


def gate(number, x, y, z, yaw_deg=0.0):
    return {
        "id": number,
        "position_m": (x, y, z),
        "yaw_deg": yaw_deg,
        "inner_size_m": (1.5, 1.5),
        "outer_size_m": (2.7, 2.7),
    }


def single(*gates, **camera):
    course = {"gates": gates, "bounds": {"min_m": (-99.0, -99.0, 0.0), "max_m": (99.0, 99.0, 99.0)}}
    where = world("null-pad", course=course, vehicle={"camera": {**AHEAD, **camera}})
    return Single(camera_oracle.camera_oracle, camera_oracle.configure(context("camera_oracle", where)))


def seen(node, state):
    node.step(0, truth=state)
    return node.last("gates")


def test_a_gate_straight_ahead_projects_as_by_hand():
    """At 5 m, corners 0.75 m off both axes: theta = atan(0.75 sqrt 2 / 5), along each axis f theta / sqrt 2."""
    observed = seen(single(gate(1, 5.0, 0.0, 1.5)), truth(position=Vec3(0.0, 0.0, 1.5)))
    assert observed.visible == 1
    d = 300.0 * math.atan(0.75 * math.sqrt(2.0) / 5.0) / math.sqrt(2.0)
    expected = [(400 - d, 300 - d), (400 + d, 300 - d), (400 + d, 300 + d), (400 - d, 300 + d)]
    np.testing.assert_allclose(observed.gates[0].corners, expected, atol=1e-9)
    assert (observed.gates[0].gate, observed.gates[0].quality) == (0, 1.0)


def test_mounting_tilt_moves_the_image_down_by_focal_length_times_tilt():
    level = seen(single(gate(1, 40.0, 0.0, 1.5)), truth(position=Vec3(0.0, 0.0, 1.5)))
    tilted = seen(single(gate(1, 40.0, 0.0, 1.5), tilt_up_deg=20.0), truth(position=Vec3(0.0, 0.0, 1.5)))
    centres = [np.mean(o.gates[0].corners, axis=0) for o in (level, tilted)]
    assert centres[1][0] == pytest.approx(centres[0][0])
    assert centres[1][1] - centres[0][1] == pytest.approx(300.0 * math.radians(20.0), abs=0.1)


def test_the_distortion_of_the_vehicle_is_applied():
    k1 = 0.05
    observed = seen(single(gate(1, 5.0, 0.0, 1.5), distortion=(k1, 0.0, 0.0, 0.0)), truth(position=Vec3(0.0, 0.0, 1.5)))
    theta = math.atan(0.75 * math.sqrt(2.0) / 5.0)
    d = 300.0 * theta * (1.0 + k1 * theta**2) / math.sqrt(2.0)
    assert observed.gates[0].corners[1] == pytest.approx((400 + d, 300 - d), abs=1e-9)


def test_a_gate_flown_at_from_behind_is_seen_with_its_corners_as_flown_at():
    observed = seen(single(gate(1, 5.0, 0.0, 1.5, yaw_deg=180.0)), truth(position=Vec3(0.0, 0.0, 1.5)))
    assert observed.visible == 1
    top_left, top_right, *_ = observed.gates[0].corners
    assert top_left.u > 400 > top_right.u  # left as flown at is right from behind
    assert top_left.v < 300


@pytest.mark.parametrize(
    ("place", "count"),
    [
        ((5.0, 0.0, 1.5), 1),
        ((-5.0, 0.0, 1.5), 0),  # behind
        ((0.1, 0.0, 1.5), 0),  # corners outside the image
        ((5.0, 11.0, 1.5), 1),
        ((5.0, 30.0, 1.5), 0),  # half a corner angle outside
    ],
)
def test_a_gate_counts_only_with_all_four_corners_in_front_and_in_the_image(place, count):
    assert seen(single(gate(1, *place)), truth(position=Vec3(0.0, 0.0, 1.5))).visible == count


def test_the_nearest_gates_are_reported_nearest_first():
    distances = [30.0, 6.0, 18.0, 12.0, 24.0, 36.0]
    gates = [gate(i + 1, d, 0.0, 1.5) for i, d in enumerate(distances)]
    observed = seen(single(*gates), truth(position=Vec3(0.0, 0.0, 1.5)))
    assert observed.visible == MAX_VISIBLE_GATES
    assert [g.gate for g in observed.gates] == [1, 3, 2, 4]


def test_fewer_gates_leave_the_rest_unfilled():
    observed = seen(single(gate(1, 6.0, 0.0, 1.5)), truth(position=Vec3(0.0, 0.0, 1.5)))
    assert [g.gate for g in observed.gates] == [0, -1, -1, -1]
    assert all(g.quality == 0.0 for g in observed.gates[1:])


def test_the_attitude_of_the_vehicle_turns_the_camera():
    half = math.radians(90.0) / 2
    left = truth(position=Vec3(0.0, 0.0, 1.5), attitude=Quat(math.cos(half), 0.0, 0.0, math.sin(half)))
    node = single(gate(1, 5.0, 0.0, 1.5), gate(2, 0.0, 5.0, 1.5, yaw_deg=90.0))
    observed = seen(node, left)
    assert [g.gate for g in observed.gates[: observed.visible]] == [1]


def test_corner_variance_is_the_square_of_the_scenario_s_deviation():
    where = world("null-pad", sim={"oracle_corner_sigma_px": 3.0})
    assert camera_oracle.configure(context("camera_oracle", where)).params.corner_variance == 9.0


def test_frames_are_numbered_also_while_blacked_out():
    node = single(gate(1, 5.0, 0.0, 1.5))
    node.step(0, truth=truth())
    blackout = fault(FaultKind.CAMERA_BLACKOUT)
    node.step(PERIOD, faults=blackout)
    node.step(2 * PERIOD)
    node.step(3 * PERIOD, faults=blackout._replace(active=False))
    assert [(f.sequence, f.width, f.height) for f in node.sent("camera")] == [(0, 800, 600), (3, 800, 600)]
    assert [g.sequence for g in node.sent("gates")] == [0, 3]


def test_a_blackout_that_ends_without_having_begun_changes_nothing():
    node = single(gate(1, 5.0, 0.0, 1.5))
    blackout = fault(FaultKind.CAMERA_BLACKOUT)
    node.step(0, truth=truth(), faults=blackout._replace(active=False))
    node.step(PERIOD, faults=blackout)
    assert [f.sequence for f in node.sent("camera")] == [0]


@pytest.mark.parametrize("probability", [0.0, 0.3, 1.0])
def test_frames_are_corrupted_with_the_probability_given_while_the_fault_is_active(probability):
    """Of n frames the share deviates by sqrt(p (1 - p) / n): five of them."""
    node, n = single(gate(1, 5.0, 0.0, 1.5)), 2000
    corrupt = fault(FaultKind.CAMERA_CORRUPT, value=probability)
    node.step(0, truth=truth(), faults=corrupt)
    for tick in range(1, n):
        node.step(tick * PERIOD)
    share = np.mean([f.corrupted for f in node.sent("camera")])
    assert abs(share - probability) <= 5 * math.sqrt(probability * (1 - probability) / n)
    node.step(n * PERIOD, faults=corrupt._replace(active=False))
    assert not node.last("camera").corrupted
