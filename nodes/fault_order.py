"""Faults as events, and the orders that add to them while a session runs."""

from bisect import insort_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from graph.config import Config, parse
from graph.errors import InputError
from msgs.fault import FaultKind
from scenarios.scenario import Fault

TIMES = frozenset({"start_s", "end_s", "start_jitter_s"})
ADDING = (FaultKind.IMU_BIAS_STEP, FaultKind.COMMAND_DELAY)
"""Kinds whose values add up: what ends must have the values of what began."""
ALONE = (FaultKind.MOTOR_SCALE, FaultKind.CAMERA_CORRUPT)
"""Kinds of which a rotor, or the camera, has one at a time."""

Row = list[float]
"""An event: ns, kind, rotor, active, value, gyro bias x y z, accelerometer bias x y z."""


def rows_of(fault: Fault) -> list[Row]:
    """The event that begins a fault, and the one that ends it if it ends. Times are exact in a float64."""
    kind = float(FaultKind[fault.kind.upper()])
    value: float = getattr(fault, "probability", getattr(fault, "delay_s", getattr(fault, "thrust_fraction", 0.0)))
    what = [
        float(value),
        *getattr(fault, "gyro_bias_rad_s", (0.0, 0.0, 0.0)),
        *getattr(fault, "accel_bias_m_s2", (0.0, 0.0, 0.0)),
    ]
    rotor = float(getattr(fault, "rotor", 0))
    begin = round(fault.start_s * 1e9)
    rows = [[float(begin), kind, rotor, 1.0, *what]]
    if fault.end_s is not None:
        rows.append([float(max(begin + 1, round(fault.end_s * 1e9))), kind, rotor, 0.0, *what])
    return rows


def in_order(rows: Sequence[Row]) -> list[Row]:
    """Events by time; of those at one time ends come first, so that one fault may begin where another ends."""
    return sorted(rows, key=lambda row: (row[0], row[3]))


class Injection(Config):
    """A fault to be injected into a running session, at once."""

    fault: Annotated[Fault, Field(discriminator="kind")] = Field(description="the fault, as a scenario has it")
    active: bool = Field(default=True, description="false: an earlier fault of this kind ends")
    duration_s: float | None = Field(
        default=None, gt=0, le=3600, description="how long it lasts, s; by default to the end"
    )


def rows_ordered(order: Mapping[str, Any]) -> list[Row]:
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
    if not injection.active:
        raise InputError("order: duration_s: an end has no duration; leave it out, or leave out active")
    return [row, [float(max(1, round(injection.duration_s * 1e9))), *row[1:3], 0.0, *row[4:]]]


@dataclass(frozen=True)
class Orders:
    """The orders that an injector takes: those that leave every fault of the run with one beginning and one end."""

    scheduled: Sequence[Row]  # the scenario's events in order of time
    longest_delay_s: float  # that commands can have in all; 0 when they cannot be delayed

    def parse(self, order: Mapping[str, Any], now: int, earlier: Sequence[tuple[int, Sequence[Row]]]) -> list[Row]:
        """The events of an order at ``now`` (ns), from now on, after the ``earlier`` ones and their times.

        Raises InputError for an order that is not valid, ends what is not active, begins what is, or delays too much.
        """
        rows = rows_ordered(order)
        if self.longest_delay_s == 0.0 and rows[0][1] == FaultKind.COMMAND_DELAY:
            raise InputError(
                "order: command_delay: the flight controller of this run has no delay line, which it gets from a "
                "scenario with such a fault; launch it with fault=command_delay:delay=0"
            )
        events = list(self.scheduled)
        ordered = [[now + row[0], *row[1:]] for row in rows]
        for row in [*([at + row[0], *row[1:]] for at, told in earlier for row in told), *ordered]:
            insort_right(events, row, key=lambda event: event[0])
        self._check(events, ordered)
        return rows

    def _check(self, events: Sequence[Row], ordered: Sequence[Row]) -> None:
        """Go through the ``events`` of a run, of which ``ordered`` are new. Raises InputError."""
        active: Counter[tuple[float, ...]] = Counter()
        for event in events:
            new, at_s = any(event is row for row in ordered), event[0] * 1e-9
            fault, name = _identity(event), _name(event)
            if event[3] > 0.0:
                if event[1] in ALONE and active[fault]:
                    hint = "end it first, with active: false" if new else f"it begins again at {at_s:g} s"
                    raise InputError(f"order: {name} is active then already; {hint}")
                active[fault] += 1
            elif active[fault]:
                active[fault] -= 1
            elif new:
                raise InputError(f"order: active: no {name} is active that could end")
            else:
                raise InputError(f"order: active: the {name} ends at {at_s:g} s anyway, and can end only once")
            delay_s = sum(f[1] * n for f, n in active.items() if f[0] == FaultKind.COMMAND_DELAY)
            if delay_s > self.longest_delay_s:
                raise InputError(
                    f"order: delay_s: the delays would add up to {delay_s:g} s; must be at most "
                    f"{self.longest_delay_s:g} s in this run"
                )


def _identity(event: Row) -> tuple[float, ...]:
    """What the beginning and the end of one fault have in common."""
    if event[1] in ADDING:
        return (event[1], *event[4:])
    return (event[1], event[2] if event[1] == FaultKind.MOTOR_SCALE else 0.0)


def _name(event: Row) -> str:
    kind = FaultKind(int(event[1]))
    if kind is FaultKind.MOTOR_SCALE:
        return f"motor_scale of rotor {int(event[2])}"
    return f"{kind.name.lower()}{' with these values' if kind in ADDING else ''}"
