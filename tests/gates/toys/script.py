"""Commands by schedule in place of a stack: motors, or thrust and rates, by the kind of scenario."""

from typing import Annotated, NamedTuple

import numpy as np

from blocks.math import Vec3
from graph.node import Context, Maybe, Setup, node
from msgs.motor_command import MotorCommand
from msgs.thrust_rates import ThrustRates

ROWS = 8
MOTORS, THRUST_RATES = 0.0, 1.0


class Params(NamedTuple):
    """The schedule: until ns, then MOTORS and four normalised thrusts, or THRUST_RATES and N, rad/s x y z."""

    rows: Annotated[np.ndarray, (ROWS, 6)]
    rows_used: int


class State(NamedTuple):
    """Nothing to remember."""


class Out(NamedTuple):
    """One of both, and none behind the schedule's end."""

    thrust_rates: Maybe[ThrustRates]
    motors: Maybe[MotorCommand]


@node
def script(p: Params, s: State, t: int) -> tuple[State, Out]:
    """The row that t falls in."""
    row = 0
    while row < p.rows_used and t >= p.rows[row, 0]:
        row += 1
    over = row == p.rows_used
    last = p.rows_used - 1 if over else row
    r = p.rows
    wanted = (r[last, 2], r[last, 3], r[last, 4], r[last, 5])
    motors = MotorCommand(stamp=t, thrusts=wanted)
    rates = ThrustRates(stamp=t, thrust=wanted[0], body_rates=Vec3(wanted[1], wanted[2], wanted[3]))
    return s, Out(
        thrust_rates=Maybe(present=not over and r[last, 1] == THRUST_RATES, value=rates),
        motors=Maybe(present=not over and r[last, 1] == MOTORS, value=motors),
    )


SCHEDULE: list[tuple[float, ...]] = []


def configure(context: Context) -> Setup:
    """The schedule that the test has set, at 250 Hz."""
    table = np.zeros((ROWS, 6))
    for row, (until_s, *rest) in enumerate(SCHEDULE):
        table[row] = [round(until_s * 1e9), *rest]
    return Setup(params=Params(table, len(SCHEDULE)), state=State(), rate_hz=250)
