"""The course as it stands: gates passed, next and hit, and all that never moves."""

from __future__ import annotations

from foxglove.messages import SceneEntity, SceneUpdate

from baselines.waypoint_planner import GATE_APPROACH_M
from nodes.camera_oracle import lens_of
from nodes.draw import shapes
from nodes.draw.shapes import WORLD
from scenarios.world import World


class CourseDrawing:
    """Draws a world's course, airframe and planned path; messages are drawn anew only when a gate changes."""

    def __init__(self, world: World) -> None:
        self._course = world.course
        self._laps = world.scenario.laps
        self._fixed = _fixed_entities(world)
        self._gate_parts: dict[tuple[int, str], SceneEntity] = {}
        self._drawn: tuple[int, int] | None = None
        self._message = b""

    def has_changed(self, passed: int, hit: int) -> bool:
        """Whether ``message`` would say something new."""
        return (passed, hit) != self._drawn

    def message(self, passed: int, hit: int) -> bytes:
        """The course after ``passed`` gates over all laps; ``hit``: index of the gate whose frame was hit, -1 none."""
        if self.has_changed(passed, hit):
            self._drawn = (passed, hit)
            lap = self._course.lap_rows
            done = passed % len(lap)
            finished = self._laps is not None and passed >= self._laps * len(lap)
            behind = set(lap) if finished else set(lap[:done])
            following = -1 if finished or self._laps is None else lap[done]
            gates = []
            for row in range(len(self._course.gates)):
                ahead = "next" if row == following else "passed" if row in behind else "ahead"
                gates.append(self._gate(row, "hit" if row == hit else ahead))
            self._message = SceneUpdate(entities=[*self._fixed, *gates]).encode()
        return self._message

    def _gate(self, row: int, state: str) -> SceneEntity:
        if (row, state) not in self._gate_parts:
            gate = self._course.gates[row]
            color = {"hit": shapes.RED, "next": shapes.ORANGE, "passed": shapes.GREEN, "ahead": shapes.GREY}[state]
            x, y, z = gate.position_m
            label = shapes.text((x, y, z + 0.5 * gate.outer_size_m[1] + 0.45), str(gate.id), 0.5, color)
            self._gate_parts[row, state] = shapes.entity(
                f"gate_{gate.id}",
                WORLD,
                cubes=shapes.gate_cubes(gate, color),
                arrows=[shapes.gate_arrow(gate, color)],
                texts=[label],
            )
        return self._gate_parts[row, state]


def _fixed_entities(world: World) -> list[SceneEntity]:
    start = world.start()[0]
    fixed = [
        shapes.entity("geofence", WORLD, lines=[shapes.box(world.course.bounds)]),
        shapes.airframe(world.vehicle),
        shapes.frustum(lens_of(world.vehicle)),
        shapes.legend((start.x, start.y, start.z)),
    ]
    if world.baseline.slots.planner == "WaypointPlanner":
        approach = world.baseline.parameters.get("gate_approach_m", GATE_APPROACH_M)
        lap = world.course.waypoints(float(approach))
        points = [(start.x, start.y, start.z), (start.x, start.y, lap[0][2]), *lap, lap[0]]
        fixed.append(shapes.entity("path", WORLD, lines=[shapes.line(points, shapes.GREY, 1.5)]))
    return fixed
