"""Announces the scenario's faults, and those injected while it runs: one message when a fault begins, one when it ends.

At most one message per tick; events that fall on one tick follow each other on the next ones. What was injected is in
the messages, so that a run can be repeated from its bag.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, NamedTuple

import numpy as np

from blocks.math import Vec3
from graph.errors import InputError
from graph.node import Context, Live, Maybe, Setup, node
from msgs.fault import Fault
from nodes.fault_events import by_time, rows_of
from nodes.fault_injection import Injections
from nodes.sim_fc_delayed import longest_delay_s
from scenarios.scenario import MOST_FAULT_EVENTS

ROWS = 4 * MOST_FAULT_EVENTS
"""Beginnings and ends of a scenario's faults, and of those injected."""
COLUMNS = 11  # ns, kind, rotor, active, value, gyro bias x y z, accel bias x y z


class Params(NamedTuple):
    """The events in order of time."""

    events: Annotated[np.ndarray, (ROWS, COLUMNS)]  # the first `filled` rows
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


def configure(context: Context) -> Setup:
    """The scenario's faults at the times drawn."""
    scenario = context.world.scenario
    rows = by_time([row for fault in context.world.faults() for row in rows_of(fault)])
    table = np.zeros((ROWS, COLUMNS))
    table[: len(rows)] = np.array(rows).reshape(-1, COLUMNS)
    injections = Injections(rows, longest_delay_s(context.world))
    return Setup(
        params=Params(events=table, filled=len(rows)),
        state=State(following=0),
        rate_hz=scenario.sim.physics_rate_hz,
        live=Live(parse=injections.parse, apply=insert, capacity=ROWS - len(rows)),
    )


def insert(params: Any, state: Any, now: int, rows: Sequence[Sequence[float]]) -> None:
    """Add events at ``now`` (ns) plus their time to a running injector's records, behind those due before or then."""
    events, count, following = params["events"], int(params["filled"]), int(state["following"])
    for row in rows:
        due = now + row[0]
        place = following + int(np.count_nonzero(events[following:count, 0] <= due))
        events[place + 1 : count + 1] = events[place:count].copy()
        events[place] = [due, *row[1:]]
        count += 1
    params["filled"] = count


def repeating(setup: Setup, recorded: Sequence[tuple[int, Fault]]) -> Setup | None:
    """The setup that says again what was ``recorded`` (time of its step in ns, message); None when ``setup`` does.

    An event of the scenario is recognised where it is the next one and was due; any other was injected at that time.
    Raises InputError when there are more than an injector can hold.
    """
    table, count = setup.params.events, setup.params.filled
    rows: list[list[float]] = []
    expected = 0
    for time, fault in recorded:
        said = [
            float(fault.kind),
            float(fault.rotor),
            float(fault.active),
            fault.value,
            *fault.gyro_bias,
            *fault.accel_bias,
        ]
        if expected < count and table[expected, 0] <= time and table[expected, 1:].tolist() == said:
            rows.append(table[expected].tolist())
            expected += 1
        else:
            rows.append([float(time), *said])
    if len(rows) == expected:
        return None
    rows += table[expected:count].tolist()
    if len(rows) > ROWS:
        raise InputError(f"{len(rows)} faults begin or end in it; a run has at most {ROWS}")
    repeated = np.zeros((ROWS, COLUMNS))
    repeated[: len(rows)] = rows
    return replace(setup, params=Params(events=repeated, filled=len(rows)))
