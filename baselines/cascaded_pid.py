"""Position and attitude loops of the block library: a reference as collective thrust and body-rate setpoints.

The rate loop belongs to the flight controller. The time step is that between estimates: on the first tick, when it is
not positive, and without a reference the last command is held, stamped with the estimate's time.

Invariants: the cascade configuration is valid, which needs a thrust-to-weight ratio above 1.25; the thrust lies
within the rotors' limits.
"""

from typing import NamedTuple

from baselines.slots import Command, SlotContext, like, thrust_rates_command
from blocks import attitude_controller, position_controller
from blocks.cascade import cascade_config_from
from blocks.kernel import inlined
from blocks.math import Vec3
from graph.errors import InputError
from graph.node import Maybe
from msgs.reference import Reference
from msgs.state_estimate import StateEstimate

KIND = "controller"


class Params(NamedTuple):
    """Gains and limits of the loops."""

    position: position_controller.Params
    attitude: attitude_controller.Params


class State(NamedTuple):
    """The loops' state and the last command."""

    position: position_controller.State
    thrust: float  # N, the last
    body_rates: Vec3  # rad/s, the last
    stamp: int  # ns, of the last estimate
    started: bool


@inlined
def control(p: Params, s: State, t: int, estimate: StateEstimate, reference: Maybe[Reference]) -> tuple[State, Command]:
    """Thrust and rates towards the reference."""
    elapsed = estimate.stamp - s.stamp
    if not (s.started and elapsed > 0 and reference.present):
        held = State(position=s.position, thrust=s.thrust, body_rates=s.body_rates, stamp=estimate.stamp, started=True)
        return held, thrust_rates_command(estimate.stamp, s.thrust, s.body_rates)
    target = reference.value
    position, wanted = position_controller.step(
        p.position,
        s.position,
        estimate.position,
        estimate.velocity,
        estimate.attitude,
        target.position,
        target.velocity,
        like(s.thrust, elapsed * 1e-9),
    )
    rates = attitude_controller.step(p.attitude, estimate.attitude, wanted.direction, target.yaw)
    state = State(position=position, thrust=wanted.thrust, body_rates=rates, stamp=estimate.stamp, started=True)
    return state, thrust_rates_command(estimate.stamp, wanted.thrust, rates)


def configure(context: SlotContext) -> tuple[Params, State]:
    """The nominal vehicle's cascade. Raises InputError when it has none, or the speed cap is bad."""
    world = context.world
    max_speed = context.parameter("max_speed_m_s", 4.5, above=0.0)
    try:
        cascade = cascade_config_from(
            world.nominal_params(), idle_speed=world.vehicle.rotor.idle_speed_rad_s, max_speed=max_speed
        )
    except ValueError as error:
        raise InputError(
            f"baseline {world.baseline.name}: CascadedPid: vehicle {world.vehicle.name}: {error}"
        ) from None
    p = cascade.position
    zero = Vec3(0.0, 0.0, 0.0)
    hover = position_controller.Output(p.mass * p.gravity, Vec3(0.0, 0.0, 1.0))
    return (
        Params(position=p, attitude=cascade.attitude),
        State(
            position=position_controller.State(zero, hover),
            thrust=p.min_thrust,
            body_rates=zero,
            stamp=0,
            started=False,
        ),
    )
