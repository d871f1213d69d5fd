"""Tilt first: roll and pitch rates depend on the thrust direction alone, yaw rate on the heading alone."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blocks.attitude_controller import Params, step, valid, yaw_error
from blocks.math import Quat, Vec3, body_z, from_yaw, multiply, normalize, rotate
from tests.blocks.rp1 import LEVEL

P = Params(tilt_gain=6.25, yaw_gain=3.125, rate_limit=10.0, yaw_rate_limit=2.0)

part = st.floats(-1.0, 1.0)
quats = st.builds(Quat, part, part, part, part).filter(lambda q: sum(x * x for x in q) > 0.01).map(normalize)
angles = st.floats(-10.0, 10.0)

fast = settings(max_examples=150, deadline=None)


def tilted(axis: str, angle: float) -> Quat:
    s, c = math.sin(angle / 2.0), math.cos(angle / 2.0)
    return Quat(c, s, 0.0, 0.0) if axis == "x" else Quat(c, 0.0, s, 0.0)


@given(q=quats, target=quats, yaw=angles)
@fast
def test_tilt_rate_is_the_angle_times_the_gain_and_points_along_the_turn(q: Quat, target: Quat, yaw: float) -> None:
    direction = body_z(target)
    rates = step(P, q, direction, yaw)
    cosine = max(-1.0, min(1.0, float(np.dot(body_z(q), direction))))
    expected = min(P.rate_limit, P.tilt_gain * math.acos(cosine))
    assert math.hypot(rates.x, rates.y) == pytest.approx(expected, abs=1e-6)
    if expected > 0.01:
        turn = Vec3(rates.x * 1e-4, rates.y * 1e-4, 0.0)
        after = normalize(multiply(q, Quat(1.0, 0.5 * turn.x, 0.5 * turn.y, 0.0)))
        assert np.dot(body_z(after), direction) > cosine


@given(q=quats, target=quats, first=angles, second=angles)
@fast
def test_heading_never_leaks_into_tilt(q: Quat, target: Quat, first: float, second: float) -> None:
    a, b = step(P, q, body_z(target), first), step(P, q, body_z(target), second)
    assert (a.x, a.y) == (b.x, b.y)
    assert abs(a.z) <= P.yaw_rate_limit


@pytest.mark.parametrize(
    ("direction", "sign"),
    [(Vec3(0.6, 0.0, 0.8), (0, 1)), (Vec3(0.0, 0.6, 0.8), (-1, 0))],
)
def test_leaning_forward_pitches_and_leaning_left_rolls_back(direction: Vec3, sign: tuple[int, int]) -> None:
    rates = step(P, LEVEL, direction, 0.0)
    assert (np.sign(rates.x), np.sign(rates.y)) == sign
    assert rates.z == 0.0


def test_aligned_and_upside_down() -> None:
    up = Vec3(0.0, 0.0, 1.0)
    assert step(P, LEVEL, up, 0.0) == Vec3(0.0, 0.0, 0.0)
    assert step(P, LEVEL, Vec3(0.0, 0.0, -1.0), 0.0) == Vec3(10.0, 0.0, 0.0)


@pytest.mark.parametrize("turns", [-2, 0, 3])
@pytest.mark.parametrize(("yaw", "heading"), [(0.3, 0.1), (-3.0, 3.0), (3.0, -3.0), (1.0, 1.0)])
def test_heading_error_takes_the_short_way_round(yaw: float, heading: float, turns: int) -> None:
    expected = math.remainder(yaw - heading, 2.0 * math.pi)
    assert yaw_error(from_yaw(heading), yaw + turns * 2.0 * math.pi) == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("axis", ["x", "y"])
def test_heading_is_that_of_the_nose_when_tilted(axis: str) -> None:
    q = multiply(from_yaw(0.7), tilted(axis, 0.6))
    nose = rotate(q, Vec3(1.0, 0.0, 0.0))
    assert yaw_error(q, 0.7) == pytest.approx(0.7 - math.atan2(nose.y, nose.x), abs=1e-14)
    assert yaw_error(q, 0.7) == pytest.approx(0.0, abs=1e-14)


@pytest.mark.parametrize(
    "changed", [{"tilt_gain": -1.0}, {"yaw_gain": math.nan}, {"rate_limit": 0.0}, {"yaw_rate_limit": 0.0}]
)
def test_validity(changed: dict[str, Any]) -> None:
    assert valid(P)
    assert not valid(P._replace(**changed))
