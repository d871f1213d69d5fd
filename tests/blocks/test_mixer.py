"""The mixer gives the wrench it was asked for, and where it cannot, gives up yaw first, tilt last.

Contracts: outputs within the rotors' limits; an unsaturated mix inverts exactly; roll and pitch are kept by shifting
the collective; only a tilt demand that fits nowhere is scaled, in direction unchanged; yaw gets what is left.
"""

from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from blocks.math import Rotors, Vec3
from blocks.mixer import Mix, Saturation, params_for, rotor_speeds, step, valid
from tests.blocks.rp1 import RP1

PARAMS = params_for(RP1, 340.0)
LOW, HIGH = PARAMS.min_thrust, PARAMS.max_thrust
NONE = Saturation(0, 0, 0, 0)

fast = settings(max_examples=300, deadline=None)


def wrench(f: Rotors) -> tuple[float, Vec3]:
    """The thrust and torque of four rotor thrusts: the model's own sums."""
    x, y, spin = RP1.rotor_x, RP1.rotor_y, RP1.spin
    return sum(f), Vec3(
        sum(a * b for a, b in zip(y, f)),
        -sum(a * b for a, b in zip(x, f)),
        -RP1.torque_coefficient * sum(a * b for a, b in zip(spin, f)),
    )


def clean(x: float) -> float:
    """Demands too small to matter are none: no torque of a vehicle is subnormal."""
    return x if abs(x) > 1e-6 else 0.0


thrust = st.floats(-20.0, 80.0).map(clean)
torque = st.builds(Vec3, *[st.floats(-4.0, 4.0).map(clean)] * 2, st.floats(-1.0, 1.0).map(clean))
within = st.floats(LOW, HIGH)


@given(f=st.tuples(within, within, within, within))
@fast
def test_a_wrench_that_fits_before_yaw_and_with_it_is_given(f: Rotors) -> None:
    total, moment = wrench(f)
    # Tilt and collective come first and must fit by themselves, even where yaw would have made the room.
    yaw = sum(spin * thrust for spin, thrust in zip(RP1.spin, f)) / 4.0
    assume(all(LOW <= thrust - spin * yaw <= HIGH for spin, thrust in zip(RP1.spin, f)))
    mix = step(PARAMS, total, moment)
    assert mix.thrusts == pytest.approx(f, abs=1e-12)


@given(total=thrust, moment=torque)
@fast
def test_outputs_are_within_limits_and_an_unsaturated_mix_inverts(total: float, moment: Vec3) -> None:
    mix = step(PARAMS, total, moment)
    assert all(LOW <= f <= HIGH for f in mix.thrusts)
    assert all(PARAMS.min_speed <= w <= PARAMS.max_speed for w in rotor_speeds(PARAMS, mix.thrusts))
    given_total, given_moment = wrench(mix.thrusts)
    if mix.saturation == NONE:
        assert given_total == pytest.approx(total, abs=1e-12)
        assert given_moment == pytest.approx(moment, abs=1e-12)


@given(total=thrust, moment=torque)
@fast
def test_demands_are_given_up_in_order(total: float, moment: Vec3) -> None:
    mix = step(PARAMS, total, moment)
    given_total, given_moment = wrench(mix.thrusts)
    saturation = mix.saturation

    span = (abs(moment.x) + abs(moment.y)) * 2.0 * abs(PARAMS.roll[0])
    if span < 0.999 * (HIGH - LOW):
        # Tilt fits somewhere: it is given in full, whatever happens to collective and yaw.
        assert (saturation.roll, saturation.pitch) == (0, 0)
        assert (given_moment.x, given_moment.y) == pytest.approx((moment.x, moment.y), abs=1e-12)
    elif span > 1.001 * (HIGH - LOW):
        # It does not: it is scaled, in direction unchanged, and the span of the rotors is used up.
        assert given_moment.x * moment.y == pytest.approx(given_moment.y * moment.x, abs=1e-9)
        assert abs(given_moment.x) <= abs(moment.x) + 1e-12
        assert (saturation.roll, saturation.pitch) == (
            (moment.x > 0) - (moment.x < 0),
            (moment.y > 0) - (moment.y < 0),
        )
        assert max(mix.thrusts) - min(mix.thrusts) == pytest.approx(HIGH - LOW, rel=1e-9)

    # Yaw never takes from the others, never overshoots, and never turns the wrong way.
    without_yaw = step(PARAMS, total, moment._replace(z=0.0))
    assert wrench(without_yaw.thrusts)[0] == pytest.approx(given_total, abs=1e-12)
    assert given_moment.z * moment.z + 1e-12 >= 0.0
    assert abs(given_moment.z) <= abs(moment.z) + 1e-12

    if saturation.thrust > 0:
        assert given_total < total
    if saturation.thrust < 0:
        assert given_total > total


@pytest.mark.parametrize(
    ("total", "moment", "expected"),
    [
        (9.8, Vec3(0.1, -0.1, 0.02), NONE),
        (9.8, Vec3(0.0, 0.0, 5.0), Saturation(0, 0, 0, 1)),
        (9.8, Vec3(0.0, 0.0, -5.0), Saturation(0, 0, 0, -1)),
        (100.0, Vec3(0.0, 0.0, 0.0), Saturation(1, 0, 0, 0)),
        (0.0, Vec3(0.0, 0.0, 0.0), Saturation(-1, 0, 0, 0)),
        (0.0, Vec3(0.5, 0.0, 0.0), Saturation(-1, 0, 0, 0)),
        (24.7, Vec3(5.0, -5.0, 0.0), Saturation(0, 1, -1, 0)),
    ],
)
def test_saturation_report(total: float, moment: Vec3, expected: Saturation) -> None:
    report = step(PARAMS, total, moment).saturation
    assert report._replace(thrust=expected.thrust if expected.roll else report.thrust) == expected


def test_torque_survives_a_thrust_demand_of_nothing() -> None:
    mix: Mix = step(PARAMS, 0.0, Vec3(0.3, 0.0, 0.0))
    assert wrench(mix.thrusts)[1].x == pytest.approx(0.3, abs=1e-12)
    assert min(mix.thrusts) == pytest.approx(LOW, abs=1e-12)


def test_rotors_that_cannot_turn_the_vehicle_are_refused() -> None:
    with pytest.raises(ValueError) as caught:
        params_for(RP1._replace(torque_coefficient=0.0), 340.0)
    assert str(caught.value) == "the rotor positions and spins do not span thrust, roll, pitch and yaw"


@pytest.mark.parametrize("speed", [-1.0, 3711.0, float("nan")])
def test_idle_speed_must_leave_a_range(speed: float) -> None:
    with pytest.raises(ValueError) as caught:
        params_for(RP1, speed)
    assert str(caught.value) == f"min_speed is {speed}, must be at least 0 and below 3711.0 rad/s"


@pytest.mark.parametrize(
    "changed",
    [{"min_thrust": -1.0}, {"max_thrust": 0.0}, {"max_speed": float("inf")}, {"thrust_coefficient": 0.0}],
)
def test_validity(changed: dict[str, Any]) -> None:
    assert valid(PARAMS)
    assert not valid(PARAMS._replace(**changed))
