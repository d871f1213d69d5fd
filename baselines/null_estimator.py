"""The vehicle at rest at the start, whatever the sensors say."""

import math
from typing import NamedTuple

from baselines.slots import SlotContext
from blocks.kernel import inlined
from blocks.math import Quat, Vec3, from_yaw
from blocks.plain import plain
from msgs.state_estimate import StateEstimate

KIND = "estimator"


class Params(NamedTuple):
    """The course's start."""

    position: Vec3  # m, world
    attitude: Quat  # body to world
    zero: float


class State(NamedTuple):
    """Nothing to remember."""


@inlined
def state_at(p: Params, s: State, t: int) -> StateEstimate:
    """At rest at the start, with no uncertainty."""
    zero = Vec3(p.zero, p.zero, p.zero)
    return StateEstimate(
        stamp=t,
        position=p.position,
        velocity=zero,
        attitude=p.attitude,
        body_rates=zero,
        gyro_bias=zero,
        accel_bias=zero,
        position_variance=zero,
        velocity_variance=zero,
        attitude_variance=zero,
        staleness=0,
        healthy=True,
    )


def at_start(context: SlotContext) -> Params:
    """The nominal start of the course."""
    start = context.world.course.start
    return Params(Vec3(*start.position_m), plain(from_yaw)(math.radians(start.yaw_deg)), 0.0)


def configure(context: SlotContext) -> tuple[Params, State]:
    """The nominal start of the course."""
    return at_start(context), State()
