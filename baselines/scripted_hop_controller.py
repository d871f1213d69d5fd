"""An open-loop hop: takeoff, a roll and a pitch doublet, descent and touch-down within 5 s. A test fixture.

Thrust and body rates follow a schedule in time; nothing is fed back. With any mass within 5 % of nominal the vehicle
leaves the pad at about 0.3 s and is down again before 4.8 s.
"""

from typing import Annotated, NamedTuple

import numpy as np

from baselines.slots import Command, SlotContext, like, thrust_rates_command
from blocks.kernel import inlined
from blocks.math import Vec3
from graph.node import Maybe
from msgs.reference import Reference
from msgs.state_estimate import StateEstimate

KIND = "controller"

SCHEDULE = (  # until s, thrust over weight, roll, pitch and yaw rate rad/s
    (0.3, 0.0, 0.0, 0.0, 0.0),
    (0.9, 1.25, 0.0, 0.0, 0.3),
    (1.1, 1.0, 0.6, 0.0, 0.0),
    (1.3, 1.0, -0.6, 0.0, 0.0),
    (1.5, 1.0, 0.0, 0.6, 0.0),
    (1.7, 1.0, 0.0, -0.6, 0.0),
    (4.3, 0.7, 0.0, 0.0, 0.0),
    (1e9, 0.0, 0.0, 0.0, 0.0),
)


class Params(NamedTuple):
    """The schedule in newtons."""

    schedule: Annotated[np.ndarray, (len(SCHEDULE), 5)]  # until ns, thrust N, body rates rad/s
    zero: float


class State(NamedTuple):
    """Nothing to remember."""


@inlined
def control(p: Params, s: State, t: int, estimate: StateEstimate, reference: Maybe[Reference]) -> tuple[State, Command]:
    """What the schedule says at t."""
    row = 0
    while t >= p.schedule[row, 0]:
        row += 1
    rates = Vec3(like(p.zero, p.schedule[row, 2]), like(p.zero, p.schedule[row, 3]), like(p.zero, p.schedule[row, 4]))
    return s, thrust_rates_command(t, like(p.zero, p.schedule[row, 1]), rates)


def configure(context: SlotContext) -> tuple[Params, State]:
    """The schedule for the nominal weight."""
    vehicle = context.world.nominal_params()
    rows = [[round(until * 1e9), k * vehicle.mass * vehicle.gravity, *rates] for until, k, *rates in SCHEDULE]
    return Params(np.array(rows, dtype=np.float64), 0.0), State()
