"""Announces the scenario's faults, and those injected while it runs: one message when a fault begins, one when it ends.

At most one message per tick; events that fall on one tick follow each other on the next ones. What was injected is in
the messages, so that a run can be repeated from its bag.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, NamedTuple

import numpy as np
from pydantic import Field

from blocks.math import Vec3
from graph.config import Config, parse
from graph.errors import InputError
from graph.node import Context, Live, Maybe, Setup, node
from msgs.fault import Fault, FaultKind
from scenarios.scenario import Fault as ScenarioFault

MAX_EVENTS = 32
"""Beginnings and ends of a scenario's faults."""
ROWS = 128
"""The same with those injected."""
TIMES = frozenset({"start_s", "end_s", "start_jitter_s"})
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
    table = np.zeros((ROWS, COLUMNS))
    table[: len(rows)] = np.array(rows).reshape(-1, COLUMNS)
    return Setup(
        params=Params(events=table, filled=len(rows)),
        state=State(following=0),
        rate_hz=scenario.sim.physics_rate_hz,
        live=Live(parse=parse_order, apply=insert, capacity=ROWS - len(rows)),
    )


class Injection(Config):
    """A fault to be injected into a running session, at once."""

    fault: Annotated[ScenarioFault, Field(discriminator="kind")] = Field(description="the fault, as a scenario has it")
    active: bool = Field(default=True, description="false: an earlier fault of this kind ends")
    duration_s: float | None = Field(
        default=None, gt=0, le=3600, description="how long it lasts, s; by default to the end"
    )


def parse_order(order: Mapping[str, Any]) -> list[list[float]]:
    """The events of an order such as {kind: motor_scale, rotor: 1, thrust_fraction: 0.5, duration_s: 2}, from now on.

    A fault's keys are those of a scenario file, without its times. Raises InputError for what is not valid.
    """
    given = {key: value for key, value in order.items() if key not in ("active", "duration_s")}
    timed = sorted(TIMES & given.keys())
    if timed:
        raise InputError(f"fault: {timed[0]}: a fault is injected at once; duration_s says how long it lasts")
    rest = {key: value for key, value in order.items() if key not in given}
    injection = parse(Injection, {"fault": given, **rest}, "order")
    [row] = rows_of(injection.fault)
    row[3] = 1.0 if injection.active else 0.0
    if injection.duration_s is None:
        return [row]
    return [row, [float(round(injection.duration_s * 1e9)), *row[1:3], 0.0, *row[4:]]]


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
