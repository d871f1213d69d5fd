"""The inertial measurement unit: rates and specific force with bias, noise, range and latency.

    gyro  = w + b_g + n_g      rad/s, body
    accel = f + b_a + n_a      m/s^2, body; specific force f = R^T (v' + g e3) in flight, R^T g e3 on the ground

Noise is uniform with the standard deviation of white noise of density d sampled at rate f, sigma = d sqrt(f); a bias
walks by a uniform step of standard deviation w / sqrt(f) per sample. An axis beyond its range is clipped and its bit
set.
"""

import math
from typing import NamedTuple

from blocks import quadrotor
from blocks.kernel import inlined
from blocks.math import Vec3, add, clamp
from blocks.plain import plain
from blocks.splitmix64 import uniform_symmetric3
from graph.node import Context, Setup, node
from msgs.fault import Fault, FaultKind
from msgs.imu_sample import ImuSample
from msgs.truth_state import TruthState
from msgs.types import UInt64

IMU_BIAS_STEP = int(FaultKind.IMU_BIAS_STEP)


class Params(NamedTuple):
    """The sensor, and the true vehicle whose specific force it feels."""

    plant: quadrotor.Params
    gyro_sigma: float  # rad/s, of one sample
    accel_sigma: float  # m/s^2, of one sample
    gyro_walk: float  # rad/s, of one bias step
    accel_walk: float  # m/s^2, of one bias step
    gyro_range: float  # rad/s
    accel_range: float  # m/s^2


class State(NamedTuple):
    """Biases and random streams."""

    gyro_bias: Vec3  # rad/s, body
    accel_bias: Vec3  # m/s^2, body
    gyro_fault: Vec3  # rad/s, sum of the active bias steps
    accel_fault: Vec3  # m/s^2, sum of the active bias steps
    noise: UInt64  # SplitMix64 state of the sample noise
    walk: UInt64  # SplitMix64 state of the bias walk


class Out(NamedTuple):
    """What the IMU publishes."""

    imu: ImuSample


@inlined
def clipped(v: Vec3, limit: float) -> Vec3:
    """Each component of v limited to [-limit, limit]."""
    return Vec3(clamp(v.x, -limit, limit), clamp(v.y, -limit, limit), clamp(v.z, -limit, limit))


@inlined
def outside(v: Vec3, limit: float) -> int:
    """Bits 0 to 2 set for the components of v beyond the limit."""
    x = 1 if abs(v.x) > limit else 0
    y = 2 if abs(v.y) > limit else 0
    z = 4 if abs(v.z) > limit else 0
    return x | y | z


@inlined
def plant_of(truth: TruthState) -> quadrotor.State:
    """The true state as the plant's model has it."""
    return quadrotor.State(
        truth.position,
        truth.velocity,
        truth.attitude,
        truth.body_rates,
        truth.rotor_speeds,
        truth.energy,
        truth.on_ground,
    )


@node
def imu(p: Params, s: State, t: int, truth: TruthState) -> tuple[State, Out]:
    """One sample of the true state at t."""
    plant = plant_of(truth)
    noise, gyro_noise = uniform_symmetric3(s.noise, p.gyro_sigma)
    noise, accel_noise = uniform_symmetric3(noise, p.accel_sigma)
    gyro = add(add(truth.body_rates, add(s.gyro_bias, s.gyro_fault)), gyro_noise)
    accel = add(add(quadrotor.specific_force(p.plant, plant), add(s.accel_bias, s.accel_fault)), accel_noise)
    sample = ImuSample(
        stamp=t,
        body_rates=clipped(gyro, p.gyro_range),
        specific_force=clipped(accel, p.accel_range),
        saturation=outside(gyro, p.gyro_range) | outside(accel, p.accel_range) << 3,
    )
    walk, gyro_step = uniform_symmetric3(s.walk, p.gyro_walk)
    walk, accel_step = uniform_symmetric3(walk, p.accel_walk)
    return (
        State(
            gyro_bias=add(s.gyro_bias, gyro_step),
            accel_bias=add(s.accel_bias, accel_step),
            gyro_fault=s.gyro_fault,
            accel_fault=s.accel_fault,
            noise=noise,
            walk=walk,
        ),
        Out(imu=sample),
    )


@imu.each
def faults(p: Params, s: State, faults: Fault) -> State:
    """imu_bias_step: its biases are added while it is active; several add up."""
    if faults.kind != IMU_BIAS_STEP:
        return s
    sign = 1.0 if faults.active else -1.0
    g, a = faults.gyro_bias, faults.accel_bias
    return State(
        gyro_bias=s.gyro_bias,
        accel_bias=s.accel_bias,
        gyro_fault=add(s.gyro_fault, Vec3(sign * g.x, sign * g.y, sign * g.z)),
        accel_fault=add(s.accel_fault, Vec3(sign * a.x, sign * a.y, sign * a.z)),
        noise=s.noise,
        walk=s.walk,
    )


def initial_bias(context: Context, purpose: str, sigma: float) -> Vec3:
    """Three draws of standard deviation sigma, uniform as the noise is."""
    bias: Vec3 = plain(uniform_symmetric3)(context.stream(purpose), sigma)[1]
    return bias


def configure(context: Context) -> Setup:
    """The vehicle's IMU, its initial biases drawn from the seed."""
    world = context.world
    sensor = world.vehicle.imu
    root = math.sqrt(sensor.rate_hz)
    zero = Vec3(0.0, 0.0, 0.0)
    return Setup(
        params=Params(
            plant=world.plant_params(),
            gyro_sigma=sensor.gyro_noise_density * root,
            accel_sigma=sensor.accel_noise_density * root,
            gyro_walk=sensor.gyro_bias_random_walk / root,
            accel_walk=sensor.accel_bias_random_walk / root,
            gyro_range=sensor.gyro_range_rad_s,
            accel_range=sensor.accel_range_m_s2,
        ),
        state=State(
            gyro_bias=initial_bias(context, "initial gyro bias", sensor.initial_gyro_bias_sigma),
            accel_bias=initial_bias(context, "initial accel bias", sensor.initial_accel_bias_sigma),
            gyro_fault=zero,
            accel_fault=zero,
            noise=context.stream("noise"),
            walk=context.stream("bias walk"),
        ),
        rate_hz=sensor.rate_hz,
        latency_ns={"imu": round(sensor.latency_s * 1e9)},
    )
