"""The simulator is the quadrotor block driven by the flight controller's commands.

scripted motors -> SimFc -> simulator  ==  quadrotor.step with w_max sqrt(m), bit for bit
"""

import math

import numpy as np
import pytest

from blocks import quadrotor
from blocks.math import Vec3
from msgs.fault import FaultKind
from msgs.motor_command import MotorCommand
from msgs.rotor_command import RotorCommand
from nodes import sim_fc, simulator
from tests.nodes.messages import fault
from tests.nodes.single import PERIOD, Single
from tests.nodes.worlds import context, world

HOP = world("scripted-hop", randomization={"mass_fraction": 0.05, "start_xy_m": 0.2, "start_yaw_rad": 0.05})


def single(where=HOP):
    return Single(simulator.simulator, simulator.configure(context("simulator", where)))


def command(stamp, *speeds):
    return RotorCommand(stamp, speeds)


def test_the_first_step_publishes_the_drawn_start_at_rest_on_the_pad_and_what_was_drawn():
    node = single()
    node.step(0)
    (truth,) = node.sent("truth")
    (config,) = node.sent("sim_config")
    position, yaw = HOP.start()
    assert truth.position == position
    assert (truth.attitude.w, truth.attitude.z) == (math.cos(yaw / 2), math.sin(yaw / 2))
    assert truth.on_ground
    assert truth.velocity == Vec3(0.0, 0.0, 0.0)
    assert config.mass_factor == HOP.draw.mass_factor
    assert config.seed == HOP.seed
    assert (config.start_position, config.start_yaw) == (position, yaw)
    node.step(PERIOD)
    assert node.sent("sim_config") == []


def test_before_the_first_command_the_rotors_stand_still_and_the_pad_holds_the_vehicle():
    node = single()
    for tick in range(20):
        node.step(tick * PERIOD)
    assert all(t.on_ground and t.rotor_speeds == (0.0, 0.0, 0.0, 0.0) for t in node.sent("truth"))


def test_scripted_motors_through_the_flight_controller_fly_the_quadrotor_block_bit_for_bit():
    plant, fc = single(), Single(sim_fc.sim_fc, sim_fc.configure(context("sim_fc", HOP)))
    p = HOP.plant_params()
    start, _ = HOP.start()
    state = plant.state.plant
    state = quadrotor.State(
        Vec3(*state.position), state.velocity, state.attitude, state.rates, state.rotor_speed, 0.0, True
    )
    assert state.position == start
    rng = np.random.default_rng(7)
    speeds = (0.0, 0.0, 0.0, 0.0)
    for tick in range(400):
        t = tick * PERIOD
        plant.step(t)
        truth = plant.last("truth")
        if tick > 0:
            state = quadrotor.step(p, state, speeds, 1.0 / 1000)
        assert (truth.position, truth.velocity, truth.attitude) == (state.position, state.velocity, state.attitude)
        assert (truth.body_rates, truth.rotor_speeds) == (state.rates, state.rotor_speed)
        assert (truth.energy, truth.on_ground) == (state.energy, state.on_ground)
        a, b, c, d = (float(x) for x in 0.35 + 0.02 * rng.random(4))
        if tick % 4 == 0:
            fc.send("motors", MotorCommand(t, (a, b, c, d)))
            top = p.max_rotor_speed
            speeds = (top * math.sqrt(a), top * math.sqrt(b), top * math.sqrt(c), top * math.sqrt(d))
        fc.step(t)
        plant.send("rotor_command", fc.last("rotor_command"))
    assert not state.on_ground


def test_free_fall_without_drag_is_the_parabola():
    where = world("null-pad", vehicle={"drag": {"linear_n_s_m": (0, 0, 0), "quadratic_n_s2_m2": (0, 0, 0)}})
    node = single(where)
    node.step(0)
    node.memory.S[0]["plant"]["position"]["z"] = 50.0
    node.memory.S[0]["plant"]["on_ground"] = False
    for tick in range(1, 1001):
        node.step(tick * PERIOD)
    assert node.last("truth").position.z == pytest.approx(50.0 - 0.5 * 9.80665, abs=1e-9)


def test_motor_scale_delivers_a_fraction_of_the_commanded_thrust_until_it_ends():
    node = single()
    node.step(0)
    scaled = fault(FaultKind.MOTOR_SCALE, value=0.64, rotor=2)
    node.step(PERIOD, faults=scaled)
    for tick in range(2, 400):
        node.step(tick * PERIOD, rotor_command=command(0, 1000.0, 1000.0, 1000.0, 1000.0))
    assert node.last("truth").rotor_speeds == pytest.approx((1000.0, 1000.0, 800.0, 1000.0), rel=1e-6)
    node.send("faults", scaled._replace(active=False))
    for tick in range(400, 800):
        node.step(tick * PERIOD)
    assert node.last("truth").rotor_speeds == pytest.approx((1000.0,) * 4, rel=1e-6)


def test_a_grounded_vehicle_stays_on_the_pad_below_hover_thrust():
    node = single()
    below = 0.99 * quadrotor.hover_rotor_speed(HOP.plant_params())
    for tick in range(500):
        node.step(tick * PERIOD, rotor_command=command(0, below, below, below, below))
    assert node.last("truth").on_ground
