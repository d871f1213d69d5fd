"""The simulated flight controller: modes, failsafe, limits, filter, and the faults of its link."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blocks import mixer, quadrotor, rate_controller
from blocks.math import Vec3
from graph.errors import InputError
from msgs.fault import FaultKind
from msgs.fc_status import FcMode
from msgs.imu_sample import ImuSample
from msgs.motor_command import MotorCommand
from nodes import sim_fc, simulator
from tests.nodes.messages import ZERO, fault, thrust_rates
from tests.nodes.single import PERIOD, Single
from tests.nodes.worlds import context, world

OFF = (0.0, 0.0, 0.0, 0.0)
PAD = world("null-pad")
DELAYED = world("null-pad", faults=({"kind": "command_delay", "delay_s": 0.06},))
WEIGHT = PAD.nominal_params().mass * PAD.nominal_params().gravity


def single(where=PAD):
    return Single(sim_fc.node_for(where), sim_fc.configure(context("sim_fc", where)))


def gyro(rates, stamp=0):
    return ImuSample(stamp, rates, ZERO, 0)


def speeds(node):
    return node.last("rotor_command").speeds


def test_the_configuration_is_valid():
    """Invariant I1."""
    params = sim_fc.configure(context("sim_fc", PAD)).params
    assert rate_controller.valid(params.rate)
    assert mixer.valid(params.mixer)


def test_a_vehicle_without_thrust_to_fly_is_refused():
    weak = world("null-pad", vehicle={"rotor": {"max_speed_rad_s": 1700.0}})
    with pytest.raises(InputError, match=r"^vehicle rp-1: thrust-to-weight ratio is 1\.049, .* more than 1\.25$"):
        sim_fc.configure(context("sim_fc", weak))


def test_before_any_command_it_is_in_failsafe():
    node = single()
    node.step(0, imu=gyro(Vec3(1.0, 1.0, 1.0)))
    assert speeds(node) == OFF
    status = node.last("fc_status")
    assert (FcMode(status.mode), status.command_age) == (FcMode.FAILSAFE, -1)


def test_before_any_imu_sample_the_gyro_reads_zero():
    node = single()
    node.step(0, thrust_rates=thrust_rates(thrust=WEIGHT))
    hover = quadrotor.hover_rotor_speed(PAD.nominal_params())
    assert speeds(node) == pytest.approx((hover,) * 4, rel=1e-12)
    assert node.last("fc_status").body_rates == ZERO


def test_a_command_takes_effect_at_the_step_it_arrives_at():
    node = single()
    node.step(0)
    assert speeds(node) == OFF
    node.step(PERIOD, motors=MotorCommand(PERIOD, (0.25, 0.25, 0.25, 0.25)))
    assert speeds(node) == (0.5 * 3711,) * 4


def test_motors_commands_set_each_rotor_to_full_speed_times_the_root():
    node = single()
    node.step(0, motors=MotorCommand(0, (0.0, 0.25, 0.64, 1.0)))
    assert speeds(node) == tuple(3711 * math.sqrt(m) for m in (0.0, 0.25, 0.64, 1.0))
    assert FcMode(node.last("fc_status").mode) is FcMode.MOTORS


def test_the_failsafe_acts_within_one_step_after_the_timeout_and_resets_the_rate_loop():
    """The command of t = 0 still holds at 100 ms and no longer at 101 ms."""
    node = single()
    node.step(0, thrust_rates=thrust_rates(thrust=WEIGHT, body_rates=Vec3(0.5, 0.0, 0.0)))
    for tick in range(1, 101):
        node.step(tick * PERIOD)
    assert all(w > 0.0 for w in speeds(node))
    assert node.state.loop.rate.integral.x > 0.0
    node.step(101 * PERIOD)
    assert speeds(node) == OFF
    assert node.state.loop.rate.integral == ZERO
    node.step(102 * PERIOD, thrust_rates=thrust_rates(thrust=WEIGHT))
    assert all(w > 0.0 for w in speeds(node))


@pytest.mark.parametrize(
    ("port", "bad"),
    [
        ("thrust_rates", thrust_rates(thrust=-1.0)),
        ("thrust_rates", thrust_rates(thrust=math.nan)),
        ("thrust_rates", thrust_rates(thrust=WEIGHT, body_rates=Vec3(0.0, math.inf, 0.0))),
        ("motors", MotorCommand(0, (0.1, 0.1, 1.1, 0.1))),
        ("motors", MotorCommand(0, (0.1, math.nan, 0.1, 0.1))),
    ],
)
def test_an_invalid_command_is_not_held_and_stops_the_rotors(port, bad):
    """Invariant I2."""
    node = single()
    node.step(0, thrust_rates=thrust_rates(thrust=WEIGHT))
    node.step(PERIOD, **{port: bad})
    assert speeds(node) == OFF
    assert FcMode(node.state.held.mode) is FcMode.FAILSAFE
    assert math.isfinite(node.state.held.thrust)


@settings(max_examples=60, deadline=None)
@given(
    thrust=st.floats(0.0, 1e4),
    rates=st.tuples(*[st.floats(-100.0, 100.0)] * 3),
    measured=st.tuples(*[st.floats(-35.0, 35.0)] * 3),
)
def test_every_rotor_command_lies_between_zero_and_full_speed(thrust, rates, measured):
    """Invariant I3."""
    node = single()
    for tick in range(3):
        node.step(tick * PERIOD, imu=gyro(Vec3(*measured)), thrust_rates=thrust_rates(0, thrust, Vec3(*rates)))
        assert all(0.0 <= w <= 3711.0 for w in speeds(node))


def test_the_gyro_is_low_passed():
    node = single()
    for tick in range(200):
        node.step(tick * PERIOD, imu=gyro(Vec3(1.0, 2.0, 3.0) if tick else ZERO))
    history = [s.body_rates.x for s in node.sent("fc_status")]
    assert history[0] == 0.0
    assert history[-1] == pytest.approx(1.0, abs=1e-6)
    node.step(200 * PERIOD, imu=gyro(ZERO))
    assert 0.8 < node.last("fc_status").body_rates.x < 1.0


def test_status_comes_at_100_hz_and_tells_mode_setpoint_age_and_saturation():
    node = single()
    node.step(0, thrust_rates=thrust_rates(thrust=1e3, body_rates=Vec3(0.1, 0.2, 0.3)))
    for tick in range(1, 100):
        node.step(tick * PERIOD)
    status = node.sent("fc_status")
    assert [s.stamp for s in status] == [10_000_000 * k for k in range(10)]
    assert [s.command_age for s in status] == [10_000_000 * k for k in range(10)]
    assert status[1].body_rates_setpoint == Vec3(0.1, 0.2, 0.3)
    assert status[1].saturation & 0b1000  # a collective of 1 kN does not fit
    assert FcMode(status[1].mode) is FcMode.THRUST_RATES


def test_rates_settle_through_the_loop_and_the_vehicle_leaves_the_pad():
    """Takeoff above the weight, then the weight with zero rates: body rates settle within 0.05 rad/s."""
    plant = Single(simulator.simulator, simulator.configure(context("simulator", PAD)))
    node = single()
    for tick in range(1500):
        t = tick * PERIOD
        plant.step(t)
        state = plant.last("truth")
        node.send("imu", gyro(state.body_rates, t))
        if tick % 4 == 0:
            rolling = 300 <= tick < 500
            node.send(
                "thrust_rates", thrust_rates(t, 1.3 * WEIGHT if tick < 500 else WEIGHT, Vec3(rolling * 0.5, 0, 0))
            )
        node.step(t)
        plant.send("rotor_command", node.last("rotor_command"))
        if tick == 499:
            assert state.body_rates.x == pytest.approx(0.5, abs=0.05)
    assert not state.on_ground
    assert state.position.z > 0.5
    assert max(abs(w) for w in state.body_rates) < 0.05


def test_link_loss_drops_commands_until_the_failsafe_acts():
    node = single()
    lost = fault(FaultKind.LINK_LOSS)
    node.step(0, motors=MotorCommand(0, (0.25,) * 4))
    node.send("faults", lost)
    for tick in range(1, 102):
        node.step(tick * PERIOD, motors=MotorCommand(0, (0.64,) * 4))
        assert speeds(node) == ((0.5 * 3711,) * 4 if tick <= 100 else OFF)
    node.step(102 * PERIOD, motors=MotorCommand(0, (0.64,) * 4), faults=lost._replace(active=False))
    assert speeds(node) == pytest.approx((0.8 * 3711,) * 4)


def test_a_delayed_command_takes_effect_its_delay_later():
    node = single(DELAYED)
    node.step(0, motors=MotorCommand(0, (0.25,) * 4))
    assert speeds(node) == (0.5 * 3711,) * 4  # the fault has not begun
    node.send("faults", fault(FaultKind.COMMAND_DELAY, value=0.007))
    for tick in range(1, 40):
        if tick % 4 == 0:
            node.send("motors", MotorCommand(0, (tick / 100,) * 4))
        node.step(tick * PERIOD)
        newest = (tick - 7) // 4 * 4
        expected = 0.25 if newest < 4 else newest / 100
        assert speeds(node) == (3711 * math.sqrt(expected),) * 4, tick


def test_when_a_delay_ends_the_next_command_supersedes_those_on_their_way():
    node = single(DELAYED)
    delay = fault(FaultKind.COMMAND_DELAY, value=0.02)
    node.step(0, motors=MotorCommand(0, (0.25,) * 4), faults=delay)
    assert speeds(node) == OFF
    node.step(4 * PERIOD, motors=MotorCommand(0, (0.64,) * 4), faults=delay._replace(active=False))
    for tick in range(5, 60):
        node.step(tick * PERIOD)
        assert speeds(node) == pytest.approx((0.8 * 3711,) * 4), tick


def test_link_loss_drops_commands_on_a_delaying_link_too():
    node = single(DELAYED)
    node.step(0, motors=MotorCommand(0, (0.25,) * 4), faults=fault(FaultKind.LINK_LOSS))
    assert speeds(node) == OFF


def test_without_a_fault_the_delaying_link_gives_the_same_bits():
    nodes = single(), single(DELAYED)
    for tick in range(50):
        for node in nodes:
            if tick % 4 == 0:
                node.send("thrust_rates", thrust_rates(tick, WEIGHT, Vec3(0.1, -0.2, 0.01 * tick)))
            node.step(tick * PERIOD, imu=gyro(Vec3(0.01 * tick, 0.2, -0.1)))
    direct, delayed = (node.outputs["rotor_command"].ring for node in nodes)
    assert direct[:50].tobytes() == delayed[:50].tobytes()


def test_a_delay_longer_than_the_delay_line_is_refused():
    long = world("null-pad", faults=({"kind": "command_delay", "delay_s": 0.07},))
    with pytest.raises(InputError) as caught:
        sim_fc.configure(context("sim_fc", long))
    assert str(caught.value) == (
        "scenario null-pad: faults[0].delay_s: the delays add up to 0.07 s; must be at most 0.06 s, "
        "15 control periods of baseline null"
    )


@pytest.mark.parametrize("where", [PAD, DELAYED])
def test_a_fault_that_ends_without_having_begun_changes_nothing(where):
    node = single(where)
    loss, delay = fault(FaultKind.LINK_LOSS), fault(FaultKind.COMMAND_DELAY, value=0.02)
    for tick, ended in enumerate((loss, delay)):
        node.step(tick * PERIOD, faults=ended._replace(active=False))
    node.step(2 * PERIOD, motors=MotorCommand(0, (0.25,) * 4))
    assert speeds(node) == pytest.approx((0.5 * 3711,) * 4)
    node.step(3 * PERIOD, motors=MotorCommand(0, (0.64,) * 4), faults=loss)
    assert speeds(node) == pytest.approx((0.5 * 3711,) * 4)
