"""The course file: gates in the order they are flown, the start pad, and the geofence.

World frame: z up, metres. A gate's yaw is the heading flown through it (its x axis), counter-clockwise from world x.
"""

import math
from typing import Annotated

from pydantic import Field, model_validator

from blocks.trigonometry import plain_cos, plain_sin
from graph.config import Config, Problem
from scenarios.fields import Name, Size, Vector

MAX_GATES = 32
MAX_SEQUENCE = 64


class Gate(Config):
    """A rectangular opening in a rectangular frame."""

    id: int = Field(ge=0, description="number by which the sequence names the gate")
    position_m: Vector = Field(description="centre of the opening, m")
    yaw_deg: float = Field(ge=-360, le=360, description="heading flown through the gate, degrees")
    inner_size_m: Size = Field(description="width and height of the opening, m")
    outer_size_m: Size = Field(description="width and height of the frame, as it is drawn, m")

    @model_validator(mode="after")
    def _outer_around_inner(self) -> "Gate":
        if any(outer < inner for outer, inner in zip(self.outer_size_m, self.inner_size_m, strict=True)):
            wanted = f"must be at least inner_size_m, {list(self.inner_size_m)}"
            raise Problem("outer_size_m", f"is {list(self.outer_size_m)}; {wanted}")
        return self

    @property
    def forward(self) -> tuple[float, float]:
        """x and y of the unit vector flown along, world."""
        yaw = math.radians(self.yaw_deg)
        return plain_cos(yaw), plain_sin(yaw)

    @property
    def left(self) -> tuple[float, float]:
        """x and y of the unit vector to the left of it, world."""
        x, y = self.forward
        return -y, x


class Start(Config):
    """The pad on which the vehicle stands at the start; the ground plane is at its height."""

    position_m: Vector = Field(description="vehicle at rest on the pad, m; its z is the height of the ground plane")
    yaw_deg: float = Field(ge=-360, le=360, description="heading, degrees")


class Bounds(Config):
    """The geofence, a box."""

    min_m: Vector = Field(description="least x, y, z, m")
    max_m: Vector = Field(description="greatest x, y, z, m")

    @model_validator(mode="after")
    def _not_empty(self) -> "Bounds":
        if any(low >= high for low, high in zip(self.min_m, self.max_m, strict=True)):
            raise Problem("max_m", f"is {list(self.max_m)}; must be greater than min_m, {list(self.min_m)}")
        return self

    def contain(self, point: Vector) -> bool:
        """Whether `point` (m, world) lies in the box."""
        return all(low <= x <= high for low, x, high in zip(self.min_m, point, self.max_m, strict=True))


class Course(Config):
    """Gates, start and geofence."""

    name: Name = Field(description="name of the course")
    start: Start = Field(description="the start pad")
    bounds: Bounds = Field(description="the geofence")
    gates: Annotated[tuple[Gate, ...], Field(min_length=1, max_length=MAX_GATES)] = Field(description="the gates")
    sequence: Annotated[tuple[int, ...], Field(min_length=1, max_length=MAX_SEQUENCE)] | None = Field(
        default=None, description="gate ids in the order flown on each lap; by default all gates as listed"
    )

    @model_validator(mode="after")
    def _check(self) -> "Course":
        ids = self.gate_ids
        for index, gate in enumerate(self.gates):
            if gate.id in ids[:index]:
                raise Problem(f"gates[{index}].id", f"is {gate.id}, which gates[{ids.index(gate.id)}] has already")
            if gate.position_m[2] <= self.ground_z_m:
                ground = f"must be above the ground, {self.ground_z_m} m (start.position_m)"
                raise Problem(f"gates[{index}].position_m", f"has z {gate.position_m[2]}; {ground}")
            if not self.bounds.contain(gate.position_m):
                raise Problem(f"gates[{index}].position_m", f"is {list(gate.position_m)}; must lie within bounds")
        for index, gate_id in enumerate(self.sequence or ()):
            if gate_id not in ids:
                valid = ", ".join(map(str, sorted(ids)))
                raise Problem(f"sequence[{index}]", f"unknown gate {gate_id} (valid: {valid})")
        if not self.bounds.contain(self.start.position_m):
            raise Problem("start.position_m", f"is {list(self.start.position_m)}; must lie within bounds")
        return self

    @property
    def ground_z_m(self) -> float:
        """Height of the ground plane, m: that of the start pad."""
        return self.start.position_m[2]

    @property
    def lap(self) -> tuple[Gate, ...]:
        """The gates of one lap in the order flown."""
        return tuple(self.gates[row] for row in self.lap_rows)

    @property
    def lap_rows(self) -> list[int]:
        """The same as their places among `gates`."""
        row_of = {gate_id: row for row, gate_id in enumerate(self.gate_ids)}
        return list(range(len(self.gates))) if self.sequence is None else [row_of[i] for i in self.sequence]

    def waypoints(self, approach_m: float) -> list[tuple[float, float, float]]:
        """Of one lap, m: before, at and behind each gate, `approach_m` along its normal; none twice in a row."""
        points: list[tuple[float, float, float]] = []
        for gate in self.lap:
            x, y, z = gate.position_m
            forward_x, forward_y = gate.forward
            for way in (-approach_m, 0.0, approach_m):
                point = (x + way * forward_x, y + way * forward_y, z)
                if not points or math.dist(points[-1], point) > 1e-9:
                    points.append(point)
        return points

    @property
    def gate_ids(self) -> list[int]:
        """Ids of `gates`."""
        return [gate.id for gate in self.gates]
