"""Announces the scenario's faults: one message when a fault begins, one when it ends.

At most one message per tick; events that fall on one tick follow each other on the next ones.
"""

from typing import Annotated, NamedTuple

import numpy as np

from blocks.math import Vec3
from graph.errors import InputError
from graph.node import Context, Maybe, Setup, node
from msgs.fault import Fault, FaultKind
from scenarios.scenario import Fault as ScenarioFault

MAX_EVENTS = 32
COLUMNS = 11  # ns, kind, rotor, active, value, gyro bias x y z, accel bias x y z


class Params(NamedTuple):
    """The events in order of time."""

    events: Annotated[np.ndarray, (MAX_EVENTS, COLUMNS)]  # the first `filled` rows
    filled: int


class State(NamedTuple):
    """The next event."""

    following: int  # row


class Out(NamedTuple):
    """What the fault injector publishes."""

    faults: Maybe[Fault]


@node
def fault_injector(p: Params, s: State, t: int) -> tuple[State, Out]:
    """The next event if it is due at t."""
    i = s.following
    due = i < p.filled and p.events[i, 0] <= t
    row = i if due else 0
    e = p.events
    fault = Fault(
        stamp=t,
        gyro_bias=Vec3(e[row, 5], e[row, 6], e[row, 7]),
        accel_bias=Vec3(e[row, 8], e[row, 9], e[row, 10]),
        value=e[row, 4],
        kind=int(e[row, 1]),
        rotor=int(e[row, 2]),
        active=e[row, 3] > 0.0,
    )
    return State(following=i + 1 if due else i), Out(faults=Maybe(present=due, value=fault))


def rows_of(fault: ScenarioFault) -> list[list[float]]:
    """The event that begins a fault, and the one that ends it if it ends. Times are exact in a float64."""
    kind = float(FaultKind[fault.kind.upper()])
    value: float = getattr(fault, "probability", getattr(fault, "delay_s", getattr(fault, "thrust_fraction", 0.0)))
    what = [
        float(value),
        *getattr(fault, "gyro_bias_rad_s", (0.0, 0.0, 0.0)),
        *getattr(fault, "accel_bias_m_s2", (0.0, 0.0, 0.0)),
    ]
    rotor = float(getattr(fault, "rotor", 0))
    rows = [[float(round(fault.start_s * 1e9)), kind, rotor, 1.0, *what]]
    if fault.end_s is not None:
        rows.append([float(round(fault.end_s * 1e9)), kind, rotor, 0.0, *what])
    return rows


def configure(context: Context) -> Setup:
    """The scenario's faults at the times drawn. Raises InputError when there are more events than the table holds."""
    scenario = context.world.scenario
    rows = sorted((row for fault in context.world.faults() for row in rows_of(fault)), key=lambda row: row[0])
    if len(rows) > MAX_EVENTS:
        raise InputError(
            f"scenario {scenario.name}: faults: {len(rows)} beginnings and ends; must be at most {MAX_EVENTS} in all"
        )
    table = np.zeros((MAX_EVENTS, COLUMNS))
    table[: len(rows)] = np.array(rows).reshape(-1, COLUMNS)
    return Setup(
        params=Params(events=table, filled=len(rows)),
        state=State(following=0),
        rate_hz=scenario.sim.physics_rate_hz,
    )
