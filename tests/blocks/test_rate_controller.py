"""The rate loop: its torque law, its holds, and the critically damped response it was designed for."""

import math
from typing import Any

import numpy as np
import pytest

from blocks.cascade import cascade_config_from
from blocks.math import Vec3
from blocks.mixer import Saturation
from blocks.rate_controller import State, initial, step, valid
from tests.blocks.rp1 import RP1, ZERO

P = cascade_config_from(RP1).rate
FREE = Saturation(0, 0, 0, 0)
DT = 1e-3


def test_torque_law() -> None:
    rates, setpoint = Vec3(1.0, -2.0, 0.5), Vec3(1.5, -1.0, 0.0)
    state = State(Vec3(0.3, -0.2, 0.1), ZERO)
    after, torque = step(P, state, setpoint, rates, FREE, DT)
    error = np.subtract(setpoint, rates)
    integral = np.add(state.integral, np.multiply(P.integral_gain, error) * DT)
    j = np.array(RP1.inertia)
    expected = j * (np.multiply(P.gain, error) + integral) + np.cross(rates, j * rates)
    np.testing.assert_allclose(torque, expected, rtol=1e-14)
    np.testing.assert_allclose(after.integral, integral, rtol=1e-15)
    assert after.torque == torque


def test_gyroscopic_coupling_is_cancelled() -> None:
    rates = Vec3(3.0, -2.0, 1.0)
    _, torque = step(P, initial(P), rates, rates, FREE, DT)
    j = np.array(RP1.inertia)
    np.testing.assert_allclose(np.subtract(torque, np.cross(rates, j * rates)), 0.0, atol=1e-17)


@pytest.mark.parametrize("dt", [0.0, -1e-3, math.nan])
def test_without_time_nothing_changes(dt: float) -> None:
    state, torque = step(P, initial(P), Vec3(1.0, 1.0, 1.0), ZERO, FREE, DT)
    assert step(P, state, Vec3(-9.0, 9.0, 9.0), ZERO, FREE, dt) == (state, torque)


def test_integral_stops_on_the_saturated_axis_only_while_the_error_pushes() -> None:
    up, down = Vec3(1.0, 1.0, 1.0), Vec3(-1.0, -1.0, -1.0)
    high = Saturation(0, 1, 0, 1)
    after, _ = step(P, initial(P), up, ZERO, high, DT)
    assert after.integral.x == 0.0
    assert after.integral.y > 0.0
    assert after.integral.z == 0.0
    after, _ = step(P, initial(P), down, ZERO, high, DT)
    assert after.integral.x < 0.0
    after, _ = step(P, initial(P), down, ZERO, Saturation(0, -1, -1, -1), DT)
    assert after.integral == ZERO


def test_integral_is_limited() -> None:
    state = initial(P)
    for _ in range(2000):
        state, _ = step(P, state, Vec3(10.0, -10.0, 10.0), ZERO, FREE, 0.01)
    assert state.integral == Vec3(50.0, -50.0, 50.0)


def test_step_response_behind_a_rotor_lag_does_not_overshoot() -> None:
    # K / (s (tau s + 1)) with K = 1 / (4 tau), its integral left out: a double pole at -1 / (2 tau).
    p = P._replace(integral_gain=ZERO)
    tau, rate, accel, state = RP1.rotor_time_constant, 0.0, 0.0, initial(p)
    peak, dt = 0.0, 1e-4
    for k in range(4000):
        state, torque = step(p, state, Vec3(1.0, 0.0, 0.0), Vec3(rate, 0.0, 0.0), FREE, dt)
        accel += dt * (torque.x / RP1.inertia.x - accel) / tau
        rate += dt * accel
        peak = max(peak, rate)
        t = (k + 1) * dt / (2.0 * tau)
        assert rate == pytest.approx(1.0 - (1.0 + t) * math.exp(-t), abs=2e-3)
    assert peak <= 1.0 + 1e-6


@pytest.mark.parametrize(
    "changed",
    [{"inertia": Vec3(0.0, 1.0, 1.0)}, {"gain": Vec3(1.0, -1.0, 1.0)}, {"integral_limit": math.inf}],
)
def test_validity(changed: dict[str, Any]) -> None:
    assert valid(P)
    assert not valid(P._replace(**changed))
