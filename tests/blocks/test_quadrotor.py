"""The quadrotor against closed forms, in float64 (compiled) and float32 (interpreted), and its contact rules."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blocks.math import Quat, Vec3, normalize, rotate, rotate_inverse
from blocks.monitor import NONE, describe, state_violation
from blocks.quadrotor import State, derivative, hover_rotor_speed, specific_force, step, vertical_thrust
from tests.blocks.analytic import AIRBORNE, DT, HOVER, STEPS, final_states
from tests.blocks.flight import hold
from tests.blocks.rp1 import LEVEL, RP1, ZERO, still

T = DT * STEPS
G = RP1.gravity

# Accumulated rounding over STEPS steps of numbers up to 10 (lengths) and 1660 (rotor speeds).
TOLERANCE = {"float64": 1e-12, "float32": 1e-4}


@pytest.fixture(params=["float64", "float32"])
def case(request: pytest.FixtureRequest, interpreted: dict[str, Any]) -> tuple[dict[str, list[float]], float]:
    scalar = request.param
    found = final_states(float) if scalar == "float64" else interpreted["float32"]["cases"]
    return found, TOLERANCE[scalar]


Case = tuple[dict[str, list[float]], float]


def test_free_fall(case: Case) -> None:
    found, tolerance = case
    state = found["free fall"]
    assert state[2] == pytest.approx(10.0 - 0.5 * G * T * T, rel=tolerance, abs=tolerance)
    assert state[5] == pytest.approx(-G * T, rel=tolerance)
    assert state[:2] == [0.0, 0.0]


def test_hover_is_an_equilibrium(case: Case) -> None:
    found, tolerance = case
    state = found["hover"]
    assert state[2] == pytest.approx(10.0, rel=tolerance)
    assert state[5] == pytest.approx(0.0, abs=tolerance)
    assert state[6:13] == [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    assert state[13:17] == pytest.approx([HOVER] * 4, rel=tolerance)
    assert state[17] == pytest.approx(4.0 * RP1.power_coefficient * HOVER**3 * T, rel=10.0 * tolerance)


def test_ground_contact_is_a_stop(case: Case) -> None:
    found, _ = case
    state = found["ground contact"]
    assert math.sqrt(2.0 * 0.25 / G) < T
    assert state[2] == RP1.ground_z
    assert state[3:6] == [0.0, 0.0, 0.0]
    assert state[10:13] == [0.0, 0.0, 0.0]
    assert state[18] == 1.0


def test_motor_lag(case: Case) -> None:
    found, tolerance = case
    expected = 1200.0 - 200.0 * math.exp(-T / RP1.rotor_time_constant)
    # RK4 at h / tau = 0.05 differs from the exponential by (h / tau)^5 / 120 per step.
    rk4 = 200.0 * (T / RP1.rotor_time_constant) * math.exp(-T / RP1.rotor_time_constant) * 0.05**4 / 120.0
    assert found["motor lag"][13:17] == pytest.approx([expected] * 4, abs=2.0 * rk4 + 1200.0 * tolerance)


def test_linear_drag_decay(case: Case) -> None:
    found, tolerance = case
    decay = RP1.drag_linear.x / RP1.mass
    state = found["linear drag"]
    assert state[3] == pytest.approx(3.0 * math.exp(-decay * T), rel=tolerance)
    assert state[0] == pytest.approx(3.0 / decay * (1.0 - math.exp(-decay * T)), rel=tolerance)


def test_hover_speed_carries_the_weight() -> None:
    assert 4.0 * RP1.thrust_coefficient * hover_rotor_speed(RP1) ** 2 == pytest.approx(RP1.mass * G, rel=1e-15)


def test_grounded_vehicle_stays_put_until_its_thrust_exceeds_its_weight() -> None:
    state = still(0.0, on_ground=True)
    lifted = False
    for _ in range(200):
        before = vertical_thrust(RP1, state)
        state = step(RP1, state, (2000.0,) * 4, DT)
        if before <= RP1.mass * G:
            assert not lifted
            assert state.on_ground
            assert state.position == ZERO
        else:
            lifted = True
            assert not state.on_ground
            assert state.velocity.z > 0.0
    assert lifted
    assert state.position.z > 0.0


def test_grounded_vehicle_stays_put_at_hover_speed() -> None:
    hover = float(hover_rotor_speed(RP1))
    state = hold(RP1, still(0.0, on_ground=True), (hover,) * 4, DT, 1000)
    assert state.on_ground
    assert state.position == ZERO
    assert state.attitude == LEVEL


def test_rotor_commands_are_clamped() -> None:
    over = hold(AIRBORNE, still(10.0, HOVER), (9000.0, -50.0, 3711.0, 0.0), DT, 500)
    at = hold(AIRBORNE, still(10.0, HOVER), (3711.0, 0.0, 3711.0, 0.0), DT, 500)
    assert over == at


@pytest.mark.parametrize(
    ("faster", "axis", "sign"),
    [
        ((1, 2), "x", 1.0),  # left rotors: right side down
        ((1, 3), "y", 1.0),  # rear rotors: nose down
        ((2, 3), "z", 1.0),  # clockwise rotors: the body turns counter-clockwise
        ((0, 1), "z", -1.0),
    ],
)
def test_rotors_turn_the_body_as_px4_quad_x(faster: tuple[int, int], axis: str, sign: float) -> None:
    a, b, c, d = (HOVER + (50.0 if rotor in faster else -50.0) for rotor in range(4))
    speeds = (a, b, c, d)
    state = still(10.0)._replace(rotor_speed=speeds)
    turn = derivative(AIRBORNE, state, speeds).rates
    assert sign * getattr(turn, axis) > 0.5
    assert all(abs(getattr(turn, other)) < 1e-9 for other in "xyz" if other != axis)


def test_battery_sag_scales_thrust_until_empty() -> None:
    full = vertical_thrust(RP1, still(1.0, 1500.0))
    half = vertical_thrust(RP1, still(1.0, 1500.0)._replace(energy=0.5 * RP1.battery_capacity))
    empty = vertical_thrust(RP1, still(1.0, 1500.0)._replace(energy=RP1.battery_capacity))
    beyond = vertical_thrust(RP1, still(1.0, 1500.0)._replace(energy=3.0 * RP1.battery_capacity))
    assert half == pytest.approx(0.9 * full, rel=1e-14)
    assert empty == pytest.approx(0.8 * full, rel=1e-14)
    assert beyond == empty


unit = st.tuples(*[st.floats(-1.0, 1.0)] * 4).filter(lambda q: sum(x * x for x in q) > 0.1)
speed = st.floats(0.0, RP1.max_rotor_speed)
rotors = st.tuples(speed, speed, speed, speed)


@st.composite
def states(draw: st.DrawFn) -> State:
    grounded = draw(st.booleans())
    x = [draw(st.floats(-10.0, 10.0)) for _ in range(8)]
    attitude = normalize(Quat(*draw(unit)))
    if grounded:
        return State(Vec3(x[0], x[1], 0.0), ZERO, attitude, ZERO, draw(rotors), draw(st.floats(0.0, 2e5)), True)
    height = draw(st.floats(0.0, 0.05) | st.floats(0.0, 100.0))
    velocity, rates = Vec3(x[2], x[3], x[4]), Vec3(x[5], x[6], x[7])
    return State(Vec3(x[0], x[1], height), velocity, attitude, rates, draw(rotors), draw(st.floats(0.0, 2e5)), False)


@given(state=states(), command=st.tuples(*[st.floats(-1e4, 1e4)] * 4), dt=st.floats(1e-5, 0.02))
@settings(max_examples=300, deadline=None)
def test_step_keeps_the_invariants(state: State, command: tuple[float, float, float, float], dt: float) -> None:
    violation = state_violation(RP1, state)
    assert violation.kind == NONE, describe(violation)
    after = step(RP1, state, command, dt)
    violation = state_violation(RP1, after)
    assert violation.kind == NONE, describe(violation)


@given(state=states(), command=rotors)
@settings(max_examples=100, deadline=None)
def test_specific_force_is_what_the_acceleration_leaves_of_gravity(
    state: State, command: tuple[float, float, float, float]
) -> None:
    reading = specific_force(RP1, state)
    up = Vec3(0.0, 0.0, G)
    if state.on_ground:
        assert reading == rotate_inverse(state.attitude, up)
        return
    acceleration = derivative(RP1, state, command).velocity
    felt = rotate(state.attitude, reading)
    np.testing.assert_allclose(felt, np.add(acceleration, up), rtol=1e-12, atol=1e-11)
