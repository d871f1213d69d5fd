"""The fisheye projection: where points land, what counts as seen, and that it agrees with its formula."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blocks.camera import Params, Projection, mount, project, to_camera, valid, view_of
from blocks.math import Quat, Vec3, add, from_yaw, multiply, rotate
from tests.blocks.rp1 import CAMERA, LEVEL, ZERO

LEVEL_CAMERA = CAMERA._replace(position=ZERO, attitude=mount(0.0))
BENT = LEVEL_CAMERA._replace(k1=0.05, k2=-0.01, k3=0.002, k4=-0.0003)


def seen_from(lens: Params, position: Vec3, attitude: Quat, point: Vec3) -> Projection:
    """A world point seen from a vehicle."""
    return project(lens, view_of(lens, position, attitude), point)


@pytest.mark.parametrize(
    ("point", "u", "v"),
    [
        (Vec3(5.0, 0.0, 0.0), 410.0, 308.0),
        (Vec3(5.0, 5.0, 0.0), 410.0 - 292.0 * math.pi / 4.0, 308.0),
        (Vec3(5.0, 0.0, 5.0), 410.0, 308.0 - 292.0 * math.pi / 4.0),
        (Vec3(5.0, -5.0, 0.0), 410.0 + 292.0 * math.pi / 4.0, 308.0),
    ],
)
def test_left_is_left_and_up_is_up(point: Vec3, u: float, v: float) -> None:
    seen = seen_from(LEVEL_CAMERA, ZERO, LEVEL, point)
    assert (seen.u, seen.v) == pytest.approx((u, v), abs=1e-10)
    assert seen.depth == pytest.approx(5.0, abs=1e-12)
    assert seen.in_front
    assert seen.inside


def test_behind_and_beside() -> None:
    behind = seen_from(LEVEL_CAMERA, ZERO, LEVEL, Vec3(-5.0, 0.1, 0.0))
    assert not behind.in_front
    assert not behind.inside
    wide = seen_from(LEVEL_CAMERA, ZERO, LEVEL, Vec3(0.1, 5.0, 0.0))
    assert wide.in_front
    assert not wide.inside


def test_image_includes_its_first_pixel_and_excludes_its_end() -> None:
    point = Vec3(5.0, 0.0, 0.0)
    assert seen_from(LEVEL_CAMERA._replace(cx=0.0, cy=0.0), ZERO, LEVEL, point).inside
    assert not seen_from(LEVEL_CAMERA._replace(cx=820.0), ZERO, LEVEL, point).inside
    assert not seen_from(LEVEL_CAMERA._replace(cy=616.0), ZERO, LEVEL, point).inside


def test_tilted_up_the_camera_sees_what_lies_along_its_axis_in_the_centre() -> None:
    tilt = math.radians(20.0)
    ahead = add(CAMERA.position, Vec3(3.0 * math.cos(tilt), 0.0, 3.0 * math.sin(tilt)))
    seen = seen_from(CAMERA, ZERO, LEVEL, ahead)
    assert (seen.u, seen.v) == pytest.approx((CAMERA.cx, CAMERA.cy), abs=1e-9)
    assert seen.depth == pytest.approx(3.0, abs=1e-12)


@given(
    x=st.floats(0.5, 20.0),
    y=st.floats(-20.0, 20.0),
    z=st.floats(-20.0, 20.0),
    yaw=st.floats(-3.0, 3.0),
)
@settings(max_examples=100, deadline=None)
def test_moving_vehicle_and_point_together_changes_nothing(x: float, y: float, z: float, yaw: float) -> None:
    q = multiply(from_yaw(yaw), Quat(math.cos(0.2), math.sin(0.2), 0.0, 0.0))
    at = Vec3(3.0, -7.0, 2.0)
    here = seen_from(CAMERA, ZERO, LEVEL, Vec3(x, y, z))
    there = seen_from(CAMERA, at, q, add(at, rotate(q, Vec3(x, y, z))))
    np.testing.assert_allclose(there[:3], here[:3], atol=1e-9)


@given(x=st.floats(0.5, 20.0), y=st.floats(-20.0, 20.0), z=st.floats(-20.0, 20.0))
@settings(max_examples=100, deadline=None)
def test_distortion_follows_the_polynomial(x: float, y: float, z: float) -> None:
    c = to_camera(view_of(BENT, ZERO, LEVEL), Vec3(x, y, z))
    np.testing.assert_allclose(c, (-y, -z, x), atol=1e-12)
    seen = seen_from(BENT, ZERO, LEVEL, Vec3(x, y, z))
    theta = math.atan2(math.hypot(c.x, c.y), c.z)
    bent = theta + 0.05 * theta**3 - 0.01 * theta**5 + 0.002 * theta**7 - 0.0003 * theta**9
    assert math.hypot(seen.u - BENT.cx, seen.v - BENT.cy) == pytest.approx(292.0 * bent, abs=1e-9)


@pytest.mark.parametrize(
    "changed",
    [{"fx": 0.0}, {"width": -1.0}, {"k1": math.nan}, {"attitude": Quat(1.0, 0.1, 0.0, 0.0)}, {"cx": math.inf}],
)
def test_validity(changed: dict[str, Any]) -> None:
    assert valid(CAMERA)
    assert not valid(CAMERA._replace(**changed))
