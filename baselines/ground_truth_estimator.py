"""The true state as the estimate: the upper bound for every estimator. Simulation only.

Invariant: the truth kept is valid; an invalid one is ignored. Healthy once truth has been received. Staleness is
measured on the estimator's input clock: the latest IMU or truth time less the latest truth time.
"""

from typing import NamedTuple

from baselines import null_estimator
from baselines.slots import SlotContext
from blocks.kernel import inlined
from blocks.math import Quat, Vec3
from msgs.codec import valid_kernel
from msgs.imu_sample import ImuSample
from msgs.state_estimate import StateEstimate
from msgs.truth_state import TruthState
from msgs.types import Stamp

KIND = "estimator"

valid_truth = valid_kernel(TruthState)


class Params(NamedTuple):
    """The estimate before the first truth."""

    start: null_estimator.Params


class State(NamedTuple):
    """The newest truth."""

    stamp: Stamp
    position: Vec3  # m, world
    velocity: Vec3  # m/s, world
    attitude: Quat  # body to world
    body_rates: Vec3  # rad/s, body
    clock: int  # ns, the latest input
    received: bool


@inlined
def on_imu(p: Params, s: State, imu: ImuSample) -> State:
    """Only its time counts."""
    clock = imu.stamp if imu.stamp > s.clock else s.clock
    return State(s.stamp, s.position, s.velocity, s.attitude, s.body_rates, clock, s.received)


@inlined
def on_truth(p: Params, s: State, truth: TruthState) -> State:
    """Keep a valid truth."""
    if not valid_truth(truth):
        return s
    clock = truth.stamp if truth.stamp > s.clock else s.clock
    return State(truth.stamp, truth.position, truth.velocity, truth.attitude, truth.body_rates, clock, True)


@inlined
def state_at(p: Params, s: State, t: int) -> StateEstimate:
    """The newest truth with zero biases and zero variance; before the first, at rest at the start and not healthy."""
    zero = Vec3(p.start.zero, p.start.zero, p.start.zero)
    return StateEstimate(
        stamp=s.stamp if s.received else t,
        position=s.position if s.received else p.start.position,
        velocity=s.velocity,
        attitude=s.attitude if s.received else p.start.attitude,
        body_rates=s.body_rates,
        gyro_bias=zero,
        accel_bias=zero,
        position_variance=zero,
        velocity_variance=zero,
        attitude_variance=zero,
        staleness=s.clock - s.stamp,
        healthy=s.received,
    )


def configure(context: SlotContext) -> tuple[Params, State]:
    """No truth yet."""
    start = null_estimator.at_start(context)
    zero = Vec3(0.0, 0.0, 0.0)
    return Params(start), State(0, zero, zero, start.attitude, zero, 0, False)
