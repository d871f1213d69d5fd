"""Position and velocity loops: limits on speed, tilt and thrust, and an integral that stops where they bind."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blocks.cascade import cascade_config_from
from blocks.math import Quat, Vec3
from blocks.position_controller import initial, step, valid, velocity_setpoint
from tests.blocks.rp1 import LEVEL, RP1, ZERO

P = cascade_config_from(RP1).position
DT = 0.004
G = RP1.gravity

number = st.floats(-50.0, 50.0)
vectors = st.builds(Vec3, number, number, number)

fast = settings(max_examples=150, deadline=None)


@given(position=vectors, velocity=vectors, target=vectors, feedforward=vectors, integral=vectors)
@fast
def test_output_respects_tilt_and_thrust_limits(
    position: Vec3, velocity: Vec3, target: Vec3, feedforward: Vec3, integral: Vec3
) -> None:
    bounded = Vec3(*(max(-3.0, min(3.0, x)) for x in integral))
    state, out = step(P, initial(P)._replace(integral=bounded), position, velocity, LEVEL, target, feedforward, DT)
    assert np.linalg.norm(out.direction) == pytest.approx(1.0, abs=1e-14)
    assert out.direction.z >= math.cos(math.atan(P.tilt_tangent)) - 1e-12
    assert P.min_thrust <= out.thrust <= P.max_thrust
    assert all(abs(x) <= P.integral_limit for x in state.integral)
    assert state.output == out


@given(position=vectors, target=vectors, feedforward=vectors)
@fast
def test_velocity_setpoint_respects_speed_limits(position: Vec3, target: Vec3, feedforward: Vec3) -> None:
    v = velocity_setpoint(P, position, target, feedforward)
    assert math.hypot(v.x, v.y) <= P.speed_limit * (1.0 + 1e-15)
    assert -P.descent_limit <= v.z <= P.climb_limit


def test_law_away_from_every_limit() -> None:
    position, velocity, target, feedforward = Vec3(1.0, 2.0, 3.0), Vec3(0.2, -0.1, 0.1), Vec3(1.3, 1.8, 3.1), ZERO
    integral = np.array([0.1, -0.2, 0.3])
    _, out = step(P, initial(P)._replace(integral=Vec3(*integral)), position, velocity, LEVEL, target, feedforward, DT)
    wanted = P.position_gain * np.subtract(target, position)
    force = P.velocity_gain * (wanted - velocity) + integral + [0.0, 0.0, G]
    np.testing.assert_allclose(out.direction, force / np.linalg.norm(force), rtol=1e-14)
    assert out.thrust == pytest.approx(RP1.mass * force[2], rel=1e-14)


def test_collective_is_the_wanted_force_along_the_present_axis() -> None:
    half = 0.2
    q = Quat(math.cos(half), 0.0, math.sin(half), 0.0)
    _, level = step(P, initial(P), ZERO, ZERO, LEVEL, ZERO, ZERO, DT)
    _, tilted = step(P, initial(P), ZERO, ZERO, q, ZERO, ZERO, DT)
    assert tilted.thrust == pytest.approx(level.thrust * math.cos(2.0 * half), rel=1e-14)


def test_at_rest_on_the_reference_it_hovers() -> None:
    state, out = step(P, initial(P), ZERO, ZERO, LEVEL, ZERO, ZERO, DT)
    assert out == initial(P).output
    assert out.thrust == RP1.mass * G
    assert state.integral == ZERO


@pytest.mark.parametrize("dt", [0.0, -DT, math.nan])
def test_without_time_nothing_changes(dt: float) -> None:
    state, out = step(P, initial(P), ZERO, ZERO, LEVEL, Vec3(0.5, 0.0, 0.2), ZERO, DT)
    assert step(P, state, Vec3(9.0, 9.0, 9.0), ZERO, LEVEL, ZERO, ZERO, dt) == (state, out)


def test_integral_grows_in_the_linear_range() -> None:
    state, _ = step(P, initial(P), ZERO, ZERO, LEVEL, Vec3(0.1, -0.1, 0.1), ZERO, DT)
    push = P.integral_gain * P.position_gain * 0.1 * DT
    np.testing.assert_allclose(state.integral, (push, -push, push), rtol=1e-14)


def test_integral_is_frozen_where_tilt_saturates_and_the_error_pushes() -> None:
    state, out = step(P, initial(P), ZERO, ZERO, LEVEL, Vec3(50.0, 0.0, 0.0), ZERO, DT)
    assert out.direction.x / out.direction.z == pytest.approx(P.tilt_tangent, rel=1e-12)
    assert state.integral == ZERO
    # The tilt limit binds because of the integral, but the error now pulls it back: it may run down.
    wound = initial(P)._replace(integral=Vec3(30.0, 0.0, 0.0))
    state, _ = step(P._replace(integral_limit=40.0), wound, ZERO, ZERO, LEVEL, Vec3(-0.1, 0.0, 0.0), ZERO, DT)
    assert state.integral.x < 30.0


def test_integral_is_frozen_where_thrust_saturates_and_the_error_pushes() -> None:
    weak = P._replace(max_thrust=1.1 * RP1.mass * G)
    state, out = step(weak, initial(P), ZERO, ZERO, LEVEL, Vec3(0.0, 0.0, 50.0), ZERO, DT)
    assert out.thrust == pytest.approx(weak.max_thrust, rel=1e-15)
    assert state.integral.z == 0.0
    state, out = step(P, initial(P), ZERO, Vec3(0.0, 0.0, 50.0), LEVEL, ZERO, ZERO, DT)
    assert out.thrust == P.min_thrust
    assert state.integral.z == 0.0


@pytest.mark.parametrize(
    "changed",
    [
        {"position_gain": -1.0},
        {"speed_limit": 0.0},
        {"max_thrust": 1.0},
        {"min_thrust": 20.0},
        {"mass": math.nan},
        {"integral_limit": -1.0},
    ],
)
def test_validity(changed: dict[str, Any]) -> None:
    assert valid(P)
    assert not valid(P._replace(**changed))
