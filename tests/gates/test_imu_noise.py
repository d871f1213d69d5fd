"""Gyro and accelerometer noise of a vehicle at rest: standard deviation sigma = d sqrt(f), and no mean.

Differences d of successive samples take the bias away and have the variance 2 sigma^2. For noise of kurtosis k,
Var(mean d^2) = (4 (k - 1) + 4) sigma^4 / n, their correlation included: 7.2 sigma^4 / n for uniform noise, k = 9/5. The
bounds are five standard deviations of what is measured, which one seed in a million exceeds.
"""

import math

import numpy as np
import pytest

from scenarios.world import World
from tests.gates.runs import fly
from tests.gates.toys import script

SECONDS = 20.0


@pytest.fixture(scope="module")
def samples() -> tuple[World, np.ndarray]:
    world = World.load("null-pad", duration=SECONDS)
    return world, fly(world, {"script": script}, SECONDS).logs["imu"]["data"]


@pytest.mark.parametrize("axis", "xyz")
@pytest.mark.parametrize("sensor", ["gyro", "accel"])
def test_standard_deviation_is_density_times_root_of_rate(
    samples: tuple[World, np.ndarray], sensor: str, axis: str
) -> None:
    world, records = samples
    imu = world.vehicle.imu
    density, walk, field = {
        "gyro": (imu.gyro_noise_density, imu.gyro_bias_random_walk, "body_rates"),
        "accel": (imu.accel_noise_density, imu.accel_bias_random_walk, "specific_force"),
    }[sensor]
    sigma = density * math.sqrt(imu.rate_hz)
    steps = np.diff(records[field][axis])
    step_variance = walk**2 / imu.rate_hz  # of the bias walk between two samples
    measured = (np.mean(steps**2) - step_variance) / 2.0
    bound = 5.0 * math.sqrt(7.2 / len(steps)) / 2.0
    assert abs(measured / sigma**2 - 1.0) < bound
    # Uniform: never beyond sqrt(3) sigma, so never further apart than twice that.
    assert np.abs(steps).max() <= 2.0 * math.sqrt(3.0) * sigma + math.sqrt(3.0 * step_variance)


@pytest.mark.parametrize(("sensor", "field"), [("gyro", "body_rates"), ("accel", "specific_force")])
def test_noise_has_no_mean(samples: tuple[World, np.ndarray], sensor: str, field: str) -> None:
    world, records = samples
    imu = world.vehicle.imu
    density = {"gyro": imu.gyro_noise_density, "accel": imu.accel_noise_density}[sensor]
    n = len(records) // 2
    # The bias is there in both halves of a pair; the sum of differences telescopes, those of disjoint pairs do not.
    pairs = records[field]["x"][: 2 * n : 2] - records[field]["x"][1 : 2 * n : 2]
    sigma = density * math.sqrt(imu.rate_hz)
    assert abs(pairs.mean()) < 5.0 * math.sqrt(2.0) * sigma / math.sqrt(n)
