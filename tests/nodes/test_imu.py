"""IMU: measurement equation, noise statistics, bias, range, latency, and the bias-step fault."""

import math

import numpy as np
import pytest

from blocks import quadrotor
from blocks.math import Quat, Vec3
from msgs.fault import FaultKind
from nodes import imu
from tests.nodes.messages import fault, truth
from tests.nodes.single import PERIOD, Single
from tests.nodes.worlds import context, world

QUIET = {
    "gyro_noise_density": 0.0,
    "accel_noise_density": 0.0,
    "gyro_bias_random_walk": 0.0,
    "accel_bias_random_walk": 0.0,
    "initial_gyro_bias_sigma": 0.0,
    "initial_accel_bias_sigma": 0.0,
}
G = 9.80665


def single(**keys):
    where = world("null-pad", vehicle={"imu": {**QUIET, **keys}})
    return Single(imu.imu, imu.configure(context("imu", where)))


def samples(node, count, state):
    """`count` samples as arrays of gyro and accelerometer, one row each."""
    got = []
    for tick in range(count):
        node.step(tick * PERIOD, truth=state)
        got += node.sent("imu")
    return np.array([s.body_rates for s in got]), np.array([s.specific_force for s in got])


def test_without_errors_it_reads_the_rates_and_the_specific_force_of_the_true_vehicle():
    moving = truth(
        velocity=Vec3(3.0, -1.0, 0.5),
        attitude=Quat(math.cos(0.2), math.sin(0.2), 0.0, 0.0),
        body_rates=Vec3(0.1, -0.2, 0.3),
        rotor_speeds=(1600.0, 1650.0, 1700.0, 1750.0),
        energy=1000.0,
    )
    where = world("null-pad", vehicle={"imu": QUIET}, randomization={"mass_fraction": 0.05, "drag_fraction": 0.1})
    node = Single(imu.imu, imu.configure(context("imu", where)))
    node.step(0, truth=moving)
    (sample,) = node.sent("imu")
    state = quadrotor.State(
        moving.position,
        moving.velocity,
        moving.attitude,
        moving.body_rates,
        moving.rotor_speeds,
        moving.energy,
        False,
    )
    assert sample.body_rates == moving.body_rates
    assert sample.specific_force == quadrotor.specific_force(where.plant_params(), state)
    assert sample.saturation == 0


def test_on_the_ground_it_reads_gravity():
    node = single()
    node.step(0, truth=truth(on_ground=True))
    assert node.last("imu").specific_force == Vec3(0.0, 0.0, G)


def test_noise_has_the_density_given():
    """sigma = d sqrt(f). For n uniform draws the variance estimate has relative deviation sqrt(0.8 / n): five."""
    n, gyro_density, accel_density = 4000, 1.2e-4, 2.8e-3
    gyro, accel = samples(
        single(gyro_noise_density=gyro_density, accel_noise_density=accel_density), n, truth(on_ground=True)
    )
    for noise, density in ((gyro, gyro_density), (accel - [0.0, 0.0, G], accel_density)):
        sigma = density * math.sqrt(1000)
        assert np.abs(noise.mean(axis=0)).max() < 5 * sigma / math.sqrt(n)
        assert noise.var(axis=0) == pytest.approx([sigma**2] * 3, rel=5 * math.sqrt(0.8 / n))
        assert np.abs(noise).max() <= math.sqrt(3) * sigma * (1 + 1e-6)
        correlation = np.corrcoef(noise.T) - np.eye(3)
        assert np.abs(correlation).max() < 5 / math.sqrt(n)


def test_the_biases_walk_by_the_density_given():
    """After n steps the bias has deviation w sqrt(n / f); its increments have w / sqrt(f)."""
    n, walk = 4000, 0.01
    gyro, accel = samples(single(gyro_bias_random_walk=walk, accel_bias_random_walk=walk), n, truth(on_ground=True))
    for bias in (gyro, accel):
        sigma = walk / math.sqrt(1000)
        assert np.diff(bias, axis=0).var(axis=0) == pytest.approx([sigma**2] * 3, rel=5 * math.sqrt(0.8 / n))
    assert not gyro[0].any()


def test_the_initial_biases_are_drawn_from_the_seed_within_the_matched_range():
    where = [world("null-pad", seed=seed) for seed in range(1, 201)]
    states = [imu.configure(context("imu", w)).state for w in where]
    gyro = np.array([s.gyro_bias for s in states])
    accel = np.array([s.accel_bias for s in states])
    for bias, sigma in ((gyro, 0.005), (accel, 0.05)):
        assert np.abs(bias).max() <= math.sqrt(3) * sigma
        assert bias.std() == pytest.approx(sigma, rel=5 * math.sqrt(0.8 / bias.size) / 2)
    assert imu.configure(context("imu", where[0])).state == states[0]


def test_an_axis_beyond_its_range_is_clipped_and_its_bit_set():
    node = single(gyro_range_rad_s=2.0, accel_range_m_s2=5.0)
    node.step(0, truth=truth(body_rates=Vec3(2.5, -1.0, -3.0), on_ground=True))
    sample = node.last("imu")
    assert sample.body_rates == Vec3(2.0, -1.0, -2.0)
    assert sample.specific_force == Vec3(0.0, 0.0, 5.0)
    assert sample.saturation == 0b100_101


def test_a_sample_is_delivered_one_latency_after_its_stamp_in_order():
    where = world("null-pad", vehicle={"imu": {"latency_s": 0.0025}})
    setup = imu.configure(context("imu", where))
    assert setup.latency_ns == {"imu": 2_500_000}
    node = Single(imu.imu, setup)
    for tick in range(5):
        node.step(tick * PERIOD, truth=truth(tick * PERIOD))
    assert list(node.outputs["imu"].ring["tick"][:5]) == [3, 4, 5, 6, 7]
    assert [s.stamp for s in node.sent("imu")] == [tick * PERIOD for tick in range(5)]


def test_a_bias_step_adds_its_biases_while_it_is_active():
    node = single()
    step = fault(FaultKind.IMU_BIAS_STEP, gyro_bias=Vec3(0.1, 0.2, 0.3), accel_bias=Vec3(1.0, 2.0, 3.0))
    node.step(0, truth=truth(on_ground=True), faults=step)
    sample = node.last("imu")
    assert (sample.body_rates, sample.specific_force) == (Vec3(0.1, 0.2, 0.3), Vec3(1.0, 2.0, G + 3.0))
    node.step(PERIOD, faults=step._replace(active=False))
    sample = node.last("imu")
    assert (sample.body_rates, sample.specific_force) == (Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, G))


def test_other_faults_leave_it_alone():
    node = single()
    node.step(0, truth=truth(on_ground=True), faults=fault(FaultKind.MOTOR_SCALE, gyro_bias=Vec3(1.0, 1.0, 1.0)))
    assert node.last("imu").body_rates == Vec3(0.0, 0.0, 0.0)
