"""Repro files: the one step of the plant before an invariant was found violated, to be run again alone."""

from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ConfigDict, Field

from blocks import quadrotor
from blocks.math import Quat, Rotors, Vec3
from blocks.monitor import (
    STATE_FIELDS,
    Violation,
    describe,
    invariant_id,
    params_violation,
    state_violation,
    values_of,
)
from blocks.plain import plain
from graph.config import Config, dump_yaml, load_yaml, parse
from graph.errors import InputError, why
from graph.files import whole

_values_of = plain(values_of)

Triple = tuple[float, float, float]
Four = tuple[float, float, float, float]


class _Measured(Config):
    """Numbers as they were found, which may not be finite."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=True)


class PlantState(_Measured):
    """A state of the quadrotor."""

    position: Triple = Field(description="world, m")
    velocity: Triple = Field(description="world, m/s")
    attitude: Four = Field(description="body to world, w x y z")
    rates: Triple = Field(description="body, rad/s")
    rotor_speed: Four = Field(description="rad/s")
    energy: float = Field(description="drawn from the battery, J")
    on_ground: bool = Field(description="at rest on the ground plane")

    @classmethod
    def of(cls, state: quadrotor.State) -> "PlantState":
        """From the model's state."""
        return cls(**{name: _plain(value) for name, value in state._asdict().items()})

    def state(self) -> quadrotor.State:
        """As the model's state."""
        return quadrotor.State(
            Vec3(*self.position),
            Vec3(*self.velocity),
            Quat(*self.attitude),
            Vec3(*self.rates),
            self.rotor_speed,
            self.energy,
            self.on_ground,
        )


class Repro(_Measured):
    """A violation and the step before it."""

    violation: str = Field(description="invariant, its name and the field, as blocks.monitor describes them")
    value: float = Field(description="of that field")
    step: int = Field(ge=0, description="index of the physics step that must not be taken")
    dt_s: float = Field(gt=0, allow_inf_nan=False, description="length of a step, s")
    vehicle: dict[str, Any] = Field(description="parameters of the plant, as blocks.quadrotor.Params")
    command: Four = Field(description="rotor speeds commanded in the step before, rad/s")
    before: PlantState = Field(description="the last valid state")
    found: PlantState = Field(description="the state found one step later")

    def params(self) -> quadrotor.Params:
        """The plant. Raises InputError when its keys or values are not those of one."""
        fields = quadrotor.Params._fields
        unknown = set(self.vehicle) ^ set(fields)
        if unknown:
            raise InputError(
                f"vehicle: unknown or missing keys {', '.join(sorted(unknown))} (valid: {', '.join(fields)})"
            )
        values: dict[str, Any] = {}
        for name, given in self.vehicle.items():
            shape = {Vec3: 3, Rotors: 4}.get(quadrotor.Params.__annotations__[name], 0)
            numbers = given if shape and isinstance(given, tuple) else (given,)
            if len(numbers) != max(shape, 1) or not all(type(x) in (int, float) for x in numbers):
                raise InputError(f"vehicle.{name}: is {given}; must be {f'{shape} numbers' if shape else 'a number'}")
            floats = tuple(float(x) for x in numbers)
            values[name] = Vec3(*floats) if shape == 3 else floats if shape else floats[0]
        params = quadrotor.Params(**values)
        wrong = params_violation(params)
        if wrong is not None:
            raise InputError(f"vehicle: {wrong}")
        return params


class Again(NamedTuple):
    """A step taken again: the invariant its result violates, empty when it violates none, and a sentence."""

    invariant: str
    text: str


def repro_of(
    params: quadrotor.Params,
    before: quadrotor.State,
    command: Rotors,
    dt: float,
    found: quadrotor.State,
    violation: Violation,
    step: int,
) -> Repro:
    """The repro of ``violation``, seen in ``found`` before physics step ``step``."""
    return Repro(
        violation=describe(violation),
        value=_values_of(found)[violation.field],
        step=step,
        dt_s=dt,
        vehicle={name: _plain(value) for name, value in params._asdict().items()},
        command=command,
        before=PlantState.of(before),
        found=PlantState.of(found),
    )


def write(path: str | Path, repro: Repro) -> None:
    """Write a repro file. Raises InputError when it cannot be written."""
    try:
        with whole(Path(path)) as part:
            part.write_text(dump_yaml(repro.model_dump()), encoding="ascii")
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {why(error)}") from None


def load(path: str | Path) -> Repro:
    """Read a repro file. Raises InputError for whatever is not valid."""
    repro = parse(Repro, load_yaml(Path(path)), str(path))
    try:
        repro.params()
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    return repro


def sentence(repro: Repro) -> str:
    """What the monitor says: `I5 (below_ground) before step 800, position.z = -0.02 m < ground_z = 0 m`."""
    invariant, _, field = repro.violation.partition(": ")
    return f"{invariant} before step {repro.step}, {field} = {repro.value:g}{_bound(repro, field)}"


def step_again(repro: Repro) -> Again:
    """Take the step from the last valid state again and check where it leads.

    A step that keeps the invariants says that somebody wrote the state between two steps, or that what was wrong is
    mended.
    """
    params = repro.params()
    after = quadrotor.step(params, repro.before.state(), repro.command, repro.dt_s)
    now = state_violation(params, after)
    if invariant_id(now):
        text = f"step {repro.step - 1} again violates {describe(now)} = {_values_of(after)[now.field]:g}"
        return Again(invariant_id(now), text)
    recorded, reached = _values_of(repro.found.state()), _values_of(after)
    moved = [n for n, x, y in zip(STATE_FIELDS, recorded, reached, strict=True) if x != y]
    text = f"step {repro.step - 1} again keeps every invariant"
    if moved:
        text += f"; the state found differs in {', '.join(moved)}: it was changed between two steps, or the model since"
    return Again("", text)


def _bound(repro: Repro, field: str) -> str:
    if field == "position.z":
        return f" m < ground_z = {repro.vehicle['ground_z']:g} m"
    if field.startswith("rotor_speed"):
        return f" rad/s, valid: 0 to {repro.vehicle['max_rotor_speed']:g} rad/s"
    return ""


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, tuple) else value
