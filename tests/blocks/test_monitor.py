"""Each invariant has its own report: which one, and which field shows it."""

import math
from typing import Any

import pytest

from blocks.math import Quat, Vec3
from blocks.monitor import (
    STATE_FIELDS,
    describe,
    invariant_id,
    params_valid,
    params_violation,
    state_valid,
    state_violation,
)
from blocks.quadrotor import Params, State
from tests.blocks.rp1 import RP1, ZERO, numbers, still

GOOD = still(1.0, 1000.0)
NAN = math.nan


@pytest.mark.parametrize(
    ("state", "invariant", "text"),
    [
        (GOOD._replace(attitude=Quat(1.0 + 1e-15, 0.0, 0.0, 0.0)), "I2", "I2 (attitude_not_unit): attitude.w"),
        (GOOD._replace(rotor_speed=(0.0, 0.0, -1.0, 0.0)), "I3", "I3 (rotor_speed): rotor_speed[2]"),
        (GOOD._replace(rotor_speed=(0.0, 3712.0, 0.0, 0.0)), "I3", "I3 (rotor_speed): rotor_speed[1]"),
        (GOOD._replace(energy=-1e-300), "I3", "I3 (energy): energy"),
        (GOOD._replace(velocity=Vec3(0.0, math.inf, 0.0)), "I4", "I4 (non_finite): velocity.y"),
        (GOOD._replace(position=Vec3(0.0, 0.0, -1e-9)), "I5", "I5 (below_ground): position.z"),
    ],
)
def test_reports_the_violated_invariant(state: State, invariant: str, text: str) -> None:
    violation = state_violation(RP1, state)
    assert invariant_id(violation) == invariant
    assert describe(violation) == text
    assert not state_valid(RP1, state)


def test_a_valid_state_violates_nothing() -> None:
    violation = state_violation(RP1, GOOD)
    assert state_valid(RP1, GOOD)
    assert invariant_id(violation) == ""
    assert describe(violation) == "valid"


def test_non_finite_is_checked_first_in_every_field() -> None:
    worst = State(Vec3(0.0, 0.0, -1.0), ZERO, Quat(2.0, 0.0, 0.0, 0.0), ZERO, (-1.0, 0.0, 0.0, 0.0), -1.0, False)
    values = numbers(worst)[:18]
    assert len(values) == len(STATE_FIELDS)
    for field, name in enumerate(STATE_FIELDS):
        for bad in (NAN, math.inf, -math.inf):
            x = list(values)
            x[field] = bad
            state = State(
                Vec3(*x[0:3]),
                Vec3(*x[3:6]),
                Quat(*x[6:10]),
                Vec3(*x[10:13]),
                (x[13], x[14], x[15], x[16]),
                x[17],
                False,
            )
            assert describe(state_violation(RP1, state)) == f"I4 (non_finite): {name}"


def test_unit_tolerance_is_that_of_the_scalar_type() -> None:
    loose = GOOD._replace(attitude=Quat(1.0 + 3e-7, 0.0, 0.0, 0.0))
    assert invariant_id(state_violation(RP1, loose)) == "I2"
    assert invariant_id(state_violation(RP1, loose, 2.0**-23)) == ""


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"mass": 0.0}, "mass is 0.0, must be above 0"),
        ({"mass": NAN}, "mass is nan, must be finite"),
        ({"inertia": Vec3(0.0027, -0.0051, 0.0075)}, "inertia.y is -0.0051, must be above 0"),
        (
            {"inertia": Vec3(0.001, 0.001, 0.003)},
            "inertia is (0.001, 0.001, 0.003), its largest moment must not exceed the sum of the other two",
        ),
        ({"rotor_x": (0.078, math.inf, 0.078, 0.0)}, "rotor_x[1] is inf, must be finite"),
        ({"spin": (1.0, 0.5, -1.0, -1.0)}, "spin[1] is 0.5, must be 1 (counter-clockwise) or -1 (clockwise)"),
        ({"torque_coefficient": -0.01}, "torque_coefficient is -0.01, must not be negative"),
        ({"drag_linear": Vec3(0.27, 0.27, -0.5)}, "drag_linear.z is -0.5, must not be negative"),
        ({"rotor_time_constant": 0.0}, "rotor_time_constant is 0.0, must be above 0"),
        ({"battery_sag": 1.0}, "battery_sag is 1.0, must be below 1"),
        ({"ground_z": NAN}, "ground_z is nan, must be finite"),
    ],
)
def test_parameters_out_of_bounds(changed: dict[str, Any], message: str) -> None:
    params: Params = RP1._replace(**changed)
    assert params_violation(params) == message
    assert not params_valid(params)


def test_parameters_must_be_normal_numbers_of_the_scalar_type() -> None:
    assert params_valid(RP1)
    binary16 = 6.103515625e-05
    assert params_violation(RP1, binary16) == (
        "thrust_coefficient is 8.9e-07, must be a normal number of the scalar type (at least 6.103515625e-05)"
    )
