"""Controllers: the cascade's holds and limits, the hop's schedule, the null controller's silence."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blocks import attitude_controller, position_controller
from blocks.math import Quat, Vec3
from graph.errors import InputError
from graph.node import Maybe
from msgs.reference import Reference
from tests.baselines.slots import Slot
from tests.nodes.messages import ZERO, estimate
from tests.nodes.worlds import world

B0 = world("b0-nominal")
TICK = 4_000_000
WEIGHT = 9.80665
HERE = Maybe(present=True, value=Reference(0, ZERO, ZERO, 0.0, 0.0, 0))
NOWHERE = Maybe(present=False, value=Reference(0, ZERO, ZERO, 0.0, 0.0, 0))


@pytest.fixture
def cascade():
    return Slot("controller", "CascadedPid", B0)


def control(slot, stamp, reference=HERE, **state):
    command = slot.call("control", stamp, estimate(stamp, **state), reference)
    assert command.thrust_rates.present
    assert not command.motors.present
    return command.thrust_rates.value


def test_the_configuration_is_valid(cascade):
    """Invariant I1."""
    assert position_controller.valid(cascade.params.position)
    assert attitude_controller.valid(cascade.params.attitude)


def test_at_the_reference_it_hovers(cascade):
    control(cascade, 0)
    command = control(cascade, TICK)
    assert command.thrust == pytest.approx(WEIGHT)
    assert command.body_rates == ZERO


def test_the_first_tick_holds_the_least_thrust(cascade):
    command = control(cascade, 5 * TICK)
    assert (command.thrust, command.body_rates) == (cascade.params.position.min_thrust, ZERO)
    assert command.stamp == 5 * TICK


@pytest.mark.parametrize("elapsed", [0, -TICK])
def test_without_time_elapsed_the_last_command_is_held_and_stamped_anew(cascade, elapsed):
    control(cascade, 0)
    last = control(cascade, TICK, position=Vec3(-1.0, 0.5, 0.2))
    loops = cascade.state.position
    held = control(cascade, TICK + elapsed, position=Vec3(3.0, 3.0, 3.0))
    assert held == last._replace(stamp=TICK + elapsed)
    assert cascade.state.position == loops


def test_without_a_reference_the_last_command_is_held_and_stamped_anew(cascade):
    control(cascade, 0)
    last = control(cascade, TICK, position=Vec3(-1.0, 0.5, 0.2))
    assert control(cascade, 3 * TICK, NOWHERE) == last._replace(stamp=3 * TICK)


def test_after_a_hold_the_step_is_the_time_since_the_last_tick(cascade):
    other = Slot("controller", "CascadedPid", B0)
    for slot in (cascade, other):
        control(slot, 0)
    control(cascade, TICK, NOWHERE)
    control(other, 9 * TICK, NOWHERE)
    away = Vec3(0.0, 0.0, 0.5)
    assert control(cascade, 2 * TICK, position=away)._replace(stamp=0) == control(
        other, 10 * TICK, position=away
    )._replace(stamp=0)


@settings(max_examples=100, deadline=None)
@given(
    position=st.tuples(*[st.floats(-100, 100)] * 3),
    velocity=st.tuples(*[st.floats(-20, 20)] * 3),
    turn=st.tuples(*[st.floats(-1, 1)] * 4).filter(lambda q: sum(x * x for x in q) > 0.01),
)
def test_thrust_and_rates_stay_within_their_limits(position, velocity, turn):
    """Invariant I2."""
    slot = Slot("controller", "CascadedPid", B0)
    size = math.sqrt(sum(x * x for x in turn))
    attitude = Quat(*(x / size for x in turn))
    control(slot, 0)
    command = control(slot, TICK, position=Vec3(*position), velocity=Vec3(*velocity), attitude=attitude)
    p = slot.params
    assert p.position.min_thrust <= command.thrust <= p.position.max_thrust
    assert math.hypot(command.body_rates.x, command.body_rates.y) <= p.attitude.rate_limit * (1 + 1e-12)
    assert abs(command.body_rates.z) <= p.attitude.yaw_rate_limit


def test_it_tilts_towards_the_reference_and_turns_towards_its_yaw(cascade):
    control(cascade, 0)
    target = Maybe(present=True, value=Reference(0, Vec3(1.0, 0.0, 0.0), ZERO, 0.5, 0.0, 0))
    command = control(cascade, TICK, target)
    assert command.body_rates.y > 0.1  # nose down, towards +x
    assert abs(command.body_rates.x) < 1e-12
    assert command.body_rates.z == pytest.approx(3.125 * 0.5)


def test_the_speed_cap_lowers_climb_and_descent_only_where_it_is_below_them():
    fast = Slot("controller", "CascadedPid", B0).params.position
    slow = Slot("controller", "CascadedPid", world("b0-nominal", parameters={"max_speed_m_s": 1.5})).params.position
    assert (fast.speed_limit, fast.climb_limit, fast.descent_limit) == (4.5, 3.0, 2.0)
    assert (slow.speed_limit, slow.climb_limit, slow.descent_limit) == (1.5, 1.5, 1.5)


def test_it_knows_the_nominal_vehicle_only():
    heavy = world("b0-nominal", seed=3)
    assert heavy.plant_params().mass != heavy.nominal_params().mass
    assert Slot("controller", "CascadedPid", heavy).params.position.mass == heavy.nominal_params().mass


def test_a_bad_speed_cap_is_refused():
    with pytest.raises(InputError) as caught:
        Slot("controller", "CascadedPid", world("b0-nominal", parameters={"max_speed_m_s": 0.0}))
    assert str(caught.value) == "baseline b0-gt-pid: parameters.max_speed_m_s: is 0.0; must be a number greater than 0"


def test_a_vehicle_without_thrust_to_fly_is_refused():
    weak = world("b0-nominal", vehicle={"rotor": {"max_speed_rad_s": 1700.0}})
    with pytest.raises(InputError) as caught:
        Slot("controller", "CascadedPid", weak)
    assert str(caught.value).startswith(
        "baseline b0-gt-pid: CascadedPid: vehicle rp-1: thrust-to-weight ratio is 1.049, "
    )


def test_the_hop_follows_its_schedule_in_time():
    hop = Slot("controller", "ScriptedHopController", world("scripted-hop"))
    commands = {ms: control(hop, ms * 1_000_000, NOWHERE) for ms in (0, 299, 300, 1000, 1200, 1400, 1600, 2000, 4300)}
    thrust = {ms: round(c.thrust / WEIGHT, 9) for ms, c in commands.items()}
    expected = {0: 0.0, 299: 0.0, 300: 1.25, 1000: 1.0, 1200: 1.0, 1400: 1.0, 1600: 1.0, 2000: 0.7, 4300: 0.0}
    assert thrust == expected
    assert commands[1000].body_rates == Vec3(0.6, 0.0, 0.0)
    assert commands[1200].body_rates == Vec3(-0.6, 0.0, 0.0)
    assert commands[1400].body_rates == Vec3(0.0, 0.6, 0.0)
    assert all(c.stamp == ms * 1_000_000 for ms, c in commands.items())


def test_the_null_controller_says_nothing():
    null = Slot("controller", "NullController", world("null-pad"))
    command = null.call("control", 0, estimate(), NOWHERE)
    assert not command.thrust_rates.present
    assert not command.motors.present
