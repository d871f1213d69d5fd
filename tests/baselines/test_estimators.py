"""Estimators: the truth passes through as it is, the null estimator never moves."""

import math

import pytest

from blocks.math import Quat, Vec3
from msgs.codec import valid_kernel
from msgs.imu_sample import ImuSample
from msgs.state_estimate import StateEstimate
from tests.baselines.slots import Slot
from tests.nodes.messages import ZERO, truth
from tests.nodes.worlds import world

PAD = world("null-pad")
MOVING = truth(
    5_000_000,
    position=Vec3(1.0, 2.0, 3.0),
    velocity=Vec3(0.1, 0.2, 0.3),
    attitude=Quat(math.cos(0.3), 0.0, math.sin(0.3), 0.0),
    body_rates=Vec3(-0.1, -0.2, -0.3),
)
VARIANCES = ("gyro_bias", "accel_bias", "position_variance", "velocity_variance", "attitude_variance")


@pytest.fixture
def estimator():
    return Slot("estimator", "GroundTruthEstimator", PAD)


def imu(stamp):
    return ImuSample(stamp, ZERO, ZERO, 0)


def test_before_any_truth_it_reports_the_vehicle_at_rest_at_the_start_and_is_not_healthy(estimator):
    before = estimator.look("state_at", 7)
    null = Slot("estimator", "NullEstimator", PAD).look("state_at", 7)
    assert before == null._replace(healthy=False)
    assert (before.position, before.stamp) == (Vec3(8.0, 22.0, 0.2), 7)


def test_the_truth_passes_through_with_its_time_and_with_zero_bias_and_variance(estimator):
    estimator.fold("on_truth", MOVING)
    x = estimator.look("state_at", 8_000_000)
    assert (x.stamp, x.healthy, x.staleness) == (MOVING.stamp, True, 0)
    for name in ("position", "velocity", "attitude", "body_rates"):
        assert getattr(x, name) == getattr(MOVING, name)
    assert all(getattr(x, name) == ZERO for name in VARIANCES)
    assert valid_kernel(StateEstimate)(x)


def test_staleness_is_measured_on_the_clock_of_its_inputs(estimator):
    estimator.fold("on_truth", MOVING)
    estimator.fold("on_imu", imu(9_000_000))
    estimator.fold("on_imu", imu(8_000_000))
    assert estimator.look("state_at", 99_000_000).staleness == 4_000_000
    estimator.fold("on_truth", MOVING._replace(stamp=9_000_000))
    assert estimator.look("state_at", 99_000_000).staleness == 0


@pytest.mark.parametrize(
    "bad",
    [
        MOVING._replace(position=Vec3(math.nan, 0.0, 0.0)),
        MOVING._replace(attitude=Quat(0.9, 0.0, 0.0, 0.0)),
        MOVING._replace(energy=-1.0),
    ],
)
def test_an_invalid_truth_is_never_kept(estimator, bad):
    estimator.fold("on_truth", bad)
    assert not estimator.look("state_at", 0).healthy
    estimator.fold("on_truth", MOVING)
    estimator.fold("on_truth", bad._replace(stamp=6_000_000))
    assert estimator.look("state_at", 0).stamp == MOVING.stamp


def test_the_null_estimator_reports_the_start_whatever_the_time():
    null = Slot("estimator", "NullEstimator", PAD)
    x = null.look("state_at", 123)
    half = math.radians(35.0) / 2
    assert x.attitude == Quat(math.cos(half), 0.0, 0.0, math.sin(half))
    assert (x.position, x.velocity, x.stamp, x.healthy) == (Vec3(8.0, 22.0, 0.2), ZERO, 123, True)
