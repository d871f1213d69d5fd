"""An estimator as a user would write it, outside the project: its x position counts the gates the oracle sees."""

from typing import NamedTuple

from baselines import null_estimator
from baselines.slots import SlotContext
from blocks.kernel import kernel
from blocks.math import Vec3
from msgs.gate_observations import GateObservations
from msgs.state_estimate import StateEstimate

KIND = "estimator"


class Params(NamedTuple):
    """Where the null estimator would be."""

    start: null_estimator.Params


class State(NamedTuple):
    """Gates seen."""

    seen: int


@kernel
def on_gates(p: Params, s: State, gates: GateObservations) -> State:
    """Count."""
    return State(s.seen + gates.visible)


@kernel
def state_at(p: Params, s: State, t: int) -> StateEstimate:
    """The count as a position."""
    rest = null_estimator.state_at(p.start, null_estimator.State(), t)
    zero = p.start.zero
    return StateEstimate(
        stamp=t,
        position=Vec3(zero + s.seen, zero, zero),
        velocity=rest.velocity,
        attitude=rest.attitude,
        body_rates=rest.body_rates,
        gyro_bias=rest.gyro_bias,
        accel_bias=rest.accel_bias,
        position_variance=rest.position_variance,
        velocity_variance=rest.velocity_variance,
        attitude_variance=rest.attitude_variance,
        staleness=0,
        healthy=True,
    )


def configure(context: SlotContext) -> tuple[Params, State]:
    """Nothing seen yet."""
    return Params(null_estimator.at_start(context)), State(0)
