"""Faults that are injected while a session runs: what may be asked for, and the events it becomes."""

from bisect import insort_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from graph.config import Config, parse
from graph.errors import InputError
from msgs.fault import FaultKind
from nodes.fault_events import Row, rows_of
from scenarios.scenario import Fault

TIMES = frozenset({"start_s", "end_s", "start_jitter_s"})
ADDING = (FaultKind.IMU_BIAS_STEP, FaultKind.COMMAND_DELAY)
"""Kinds whose values add up: what ends must have the values of what began."""
ALONE = (FaultKind.MOTOR_SCALE, FaultKind.CAMERA_CORRUPT)
"""Kinds of which a rotor, or the camera, has one at a time."""


class Injection(Config):
    """A fault to be injected into a running session, at once."""

    fault: Annotated[Fault, Field(discriminator="kind")] = Field(description="the fault, as a scenario has it")
    active: bool = Field(default=True, description="false: an earlier fault of this kind ends")
    duration_s: float | None = Field(
        default=None, gt=0, le=3600, description="how long it lasts, s; by default to the end"
    )


def rows_of_injection(order: Mapping[str, Any]) -> list[Row]:
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
class Injections:
    """The orders that an injector takes: those that leave every fault of the run with one beginning and one end."""

    scheduled: Sequence[Row]  # the scenario's events in order of time
    longest_delay_s: float  # that commands can have in all; 0 when they cannot be delayed

    def parse(self, order: Mapping[str, Any], now: int, earlier: Sequence[tuple[int, Sequence[Row]]]) -> list[Row]:
        """The events of an order at ``now`` (ns), from now on, after the ``earlier`` ones and their times.

        Raises InputError for an order that is not valid, ends what is not active, begins what is, or delays too much.
        """
        rows = rows_of_injection(order)
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
