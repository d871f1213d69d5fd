"""The cascade of a vehicle: its gains, its limits, what it refuses, and the flight they give."""

import math
from typing import Any

import numpy as np
import pytest

from blocks.biquad import butterworth_low_pass
from blocks.cascade import cascade_config_from, thrust_to_weight, valid
from blocks.math import Vec3
from blocks.monitor import describe, state_violation
from blocks.quadrotor import hover_rotor_speed
from blocks.splitmix64 import stream
from tests.blocks.flight import fly_to, start
from tests.blocks.rp1 import CAMERA, RP1, still

C = cascade_config_from(RP1)


def test_gains_of_rp1() -> None:
    assert C.position.position_gain == 1.5625
    assert C.position.velocity_gain == 3.125
    assert C.position.integral_gain == pytest.approx(1.2207, abs=5e-5)
    assert C.attitude.tilt_gain == 6.25
    assert C.attitude.yaw_gain == 3.125
    assert C.rate.gain == Vec3(12.5, 12.5, 6.25)
    assert C.rate.integral_gain == pytest.approx((19.53, 19.53, 4.88), abs=5e-3)


def test_limits_of_rp1() -> None:
    assert thrust_to_weight(RP1) == pytest.approx(5.0, abs=1e-3)
    assert C.position.tilt_tangent == pytest.approx(1.0, rel=1e-15)
    assert (C.position.climb_limit, C.position.descent_limit) == (3.0, 2.0)
    assert C.position.integral_limit == 3.0
    assert (C.attitude.rate_limit, C.attitude.yaw_rate_limit) == (10.0, 2.0)
    assert C.rate.integral_limit == 50.0
    assert C.mixer.min_speed == 340.0
    assert C.position.min_thrust == pytest.approx(4.0 * RP1.thrust_coefficient * 340.0**2, rel=1e-15)
    assert valid(C)


def test_gains_halve_with_twice_the_rotor_lag() -> None:
    slow = cascade_config_from(RP1._replace(rotor_time_constant=0.04))
    assert slow.position.position_gain == C.position.position_gain / 2.0
    assert slow.rate.gain.x == C.rate.gain.x / 2.0
    assert slow.position.integral_gain == C.position.integral_gain / 4.0


def test_a_weak_vehicle_tilts_less() -> None:
    weak = RP1._replace(mass=3.5)
    limit = math.acos(1.25 / thrust_to_weight(weak))
    assert cascade_config_from(weak).position.tilt_tangent == pytest.approx(math.tan(limit), rel=1e-12)


@pytest.mark.parametrize(("cap", "climb", "descent"), [(4.5, 3.0, 2.0), (2.5, 2.5, 2.0), (1.0, 1.0, 1.0)])
def test_speed_cap_lowers_vertical_limits_only_below_them(cap: float, climb: float, descent: float) -> None:
    position = cascade_config_from(RP1, max_speed=cap).position
    assert (position.speed_limit, position.climb_limit, position.descent_limit) == (cap, climb, descent)


@pytest.mark.parametrize(
    ("changed", "options", "message"),
    [
        ({"mass": 4.0}, {}, "thrust-to-weight ratio is 1.250, the cascade needs more than 1.25"),
        ({"mass": -1.0}, {}, "no cascade for these quadrotor parameters: mass is -1.0, must be above 0"),
        ({}, {"max_speed": 0.0}, "max_speed is 0.0, must be finite and above 0 m/s"),
        ({}, {"max_speed": math.inf}, "max_speed is inf, must be finite and above 0 m/s"),
        ({}, {"idle_speed": 1700.0}, "idle_speed is 1700.0, must be below the hover speed 1659.7"),
        ({}, {"idle_speed": 4000.0}, "min_speed is 4000.0, must be at least 0 and below 3711.0 rad/s"),
    ],
)
def test_refusals_say_what_and_why(changed: dict[str, Any], options: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError) as caught:
        cascade_config_from(RP1._replace(**changed), **options)
    assert str(caught.value) == message


def fly(target: Vec3, yaw: float, steps: int) -> np.ndarray:
    hover = float(hover_rotor_speed(RP1))
    rows = np.zeros((steps, 21))
    low_pass = butterworth_low_pass(80.0, 1000.0)
    loop = start(RP1, C, still(10.0, hover))
    random = stream(3, "imu", "gyro")
    end, _ = fly_to(RP1, C, low_pass, CAMERA, loop, random, target, yaw, 0.0, 1e-3, rows)
    violation = state_violation(RP1, end.plant)
    assert describe(violation) == "valid"
    return rows


@pytest.mark.parametrize("axis", [0, 1])
def test_one_metre_step_overshoots_seven_percent_and_settles_in_two_seconds(axis: int) -> None:
    target = [0.0, 0.0, 10.0]
    target[axis] = 1.0
    x = fly(Vec3(*target), 0.0, 6000)[:, axis]
    assert x.max() - 1.0 == pytest.approx(0.067, abs=0.005)
    outside = np.flatnonzero(np.abs(x - 1.0) > 0.02)
    assert (outside[-1] + 1) * 1e-3 == pytest.approx(2.1, abs=0.05)


def test_a_heading_reversal_turns_without_leaving_the_place() -> None:
    rows = fly(Vec3(0.0, 0.0, 10.0), math.pi, 5000)
    assert np.abs(rows[:, 0:2]).max() < 0.05
    heading = 2.0 * np.arctan2(rows[-1, 9], rows[-1, 6])
    assert abs(math.remainder(heading - math.pi, 2.0 * math.pi)) < 0.02
    assert np.abs(rows[:, 12]).max() <= 2.0 * 1.2
