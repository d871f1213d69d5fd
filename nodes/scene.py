"""The scene: what a viewer draws, derived from the recorded topics and recorded with them.

Thirty times a simulated second: transforms, forces, carrot, and the corners the detector saw. Once a second, and when a
gate changes: the course with passed, next and hit gates, the airframe, the path flown and to fly. Each topic's newest
message is complete by itself, so that a viewer can begin anywhere. Frames: world (z up), drone (x forward, y left,
z up), camera (optical: z along the view, x right, y down). Messages are Foxglove's, encoded by its own library.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Mapping
from typing import Any, ClassVar

from foxglove.messages import (
    CameraCalibration,
    Color,
    CompressedImage,
    FrameTransform,
    FrameTransforms,
    ImageAnnotations,
    Point2,
    PointsAnnotation,
    PointsAnnotationType,
    SceneEntity,
    SceneUpdate,
    SpherePrimitive,
    TextAnnotation,
    Timestamp,
    Vector3,
)
from foxglove.messages import Pose as FoxglovePose
from pydantic import Field

from baselines.waypoint_planner import GATE_APPROACH_M, lap_of
from blocks import quadrotor
from blocks.math import Quat, Vec3, rotate, rotate_inverse
from blocks.plain import plain
from graph.config import Config
from graph.derived import Derivation, DerivationContext, DerivedTopic, Messages
from graph.memory import Array
from graph.schedule import first_tick
from msgs.camera_frame import CameraFrame
from msgs.gate_observations import MAX_VISIBLE_GATES, GateObservations
from msgs.gate_passage import GatePassage
from msgs.layout import record_dtype
from msgs.reference import Reference
from msgs.score import Score, Verdict
from msgs.truth_state import TruthState
from msgs.units import NS_PER_S
from nodes import scene_shapes as shapes
from nodes.camera_oracle import lens_of
from nodes.scene_shapes import CAMERA, DRONE, NO_TURN, WORLD

TRAIL_HZ = 10
TRAIL_POINTS = 600  # a minute
STALE_NS = 100_000_000  # gates seen longer ago are not drawn
PIXEL_COLOR = Color(r=0.2, g=1, b=0.4, a=1)
WARNING_COLOR = Color(r=1, g=0.3, b=0.3, a=1)

_TRUTH = struct.Struct("<18d")
_TRUTH_FIELDS: Mapping[str, Any] = record_dtype(TruthState).fields or {}
_TRUTH_OFFSET: int = _TRUTH_FIELDS["position"][1]  # position, velocity, attitude, body rates, rotor speeds, energy
assert _TRUTH_FIELDS["energy"][1] == _TRUTH_OFFSET + _TRUTH.size - 8

_SEEN = struct.Struct("<8d2dq")  # corners u and v, variance, quality, gate
_SEEN_FIELDS: Mapping[str, Any] = record_dtype(GateObservations).fields or {}
_SEEN_OFFSET: int = _SEEN_FIELDS["gates"][1]
assert _SEEN_FIELDS["gates"][0].itemsize == MAX_VISIBLE_GATES * _SEEN.size


class Options(Config):
    """Options of the scene."""

    rate_hz: int = Field(default=30, ge=1, le=1000, description="pictures per simulated second, Hz")


def _topic(name: str, message: Any) -> DerivedTopic:
    schema = message.get_schema()
    return DerivedTopic(name, schema.name, schema.data)


class Newest:
    """The messages of one topic, of which each picture takes the newest."""

    def __init__(self) -> None:
        self._log: Array | None = None
        self._ticks: list[int] = []
        self._next = 0
        self.record: Any = None  # newest
        self.tick = -1  # of its delivery

    def feed(self, log: Array) -> None:
        """Add a window's messages."""
        self._log, self._ticks, self._next = log, log["tick"].tolist(), 0

    def advance(self, tick: int) -> int:
        """Go on to the messages delivered at ``tick`` or before; returns how many there were."""
        begin, ticks = self._next, self._ticks
        while self._next < len(ticks) and ticks[self._next] <= tick:
            self._next += 1
        if self._next > begin and self._log is not None:
            self.record, self.tick = self._log["data"][self._next - 1], ticks[self._next - 1]
        return self._next - begin


class Scene(Derivation):
    """Draws the flight."""

    INPUTS: ClassVar[Mapping[str, type]] = {
        "truth": TruthState,
        "reference": Reference,
        "passage": GatePassage,
        "score": Score,
        "camera": CameraFrame,
        "gates": GateObservations,
    }
    TOPICS = (
        _topic("transforms", FrameTransforms),
        _topic("scene", SceneUpdate),
        _topic("scene_course", SceneUpdate),
        _topic("scene_trail", SceneUpdate),
        _topic("camera_image", CompressedImage),
        _topic("camera_calibration", CameraCalibration),
        _topic("camera_annotations", ImageAnnotations),
    )

    def __init__(self, context: DerivationContext) -> None:
        super().__init__(context)
        world = context.world
        self._rate_hz: int = context.options.rate_hz
        self._course = world.course
        self._params = world.plant_params()
        self._thrusts, self._body_force = plain(quadrotor.rotor_thrusts), plain(quadrotor.body_force)
        self._rotate, self._rotate_inverse = plain(rotate), plain(rotate_inverse)
        self._lap = self._course.lap_rows
        self._fixed = self._fixed_entities()
        self._gate_parts: dict[tuple[int, str], SceneEntity] = {}
        self._course_key: tuple[int, int] | None = None
        self._course_bytes = b""
        self._image = shapes.blank_png(world.vehicle.camera.width_px, world.vehicle.camera.height_px)
        self._lens = lens_of(world.vehicle)
        self._newest = {port: Newest() for port in self.INPUTS}
        self._k = 0
        self._passed = 0
        self._hit = -1  # index of the gate whose frame was hit
        self._over = False
        self._trail: deque[shapes.Point] = deque(maxlen=TRAIL_POINTS)

    def _fixed_entities(self) -> list[SceneEntity]:
        world, bounds = self.context.world, self._course.bounds
        start = world.start()[0]
        fixed = [
            shapes.entity("geofence", WORLD, lines=[shapes.box(bounds)]),
            shapes.airframe(world.vehicle),
            shapes.frustum(lens_of(world.vehicle)),
            shapes.legend((start.x, start.y, start.z)),
        ]
        if world.baseline.slots.planner == "WaypointPlanner":
            approach = world.baseline.parameters.get("gate_approach_m", GATE_APPROACH_M)
            lap = lap_of(self._course, approach)
            points = [(start.x, start.y, start.z), (start.x, start.y, lap[0][2]), *lap, lap[0]]
            fixed.append(shapes.entity("path", WORLD, lines=[shapes.line(points, shapes.GREY, 1.5)]))
        return fixed

    def take(self, end: int, logs: Mapping[str, Array]) -> list[Messages]:
        """The pictures before tick ``end``, and one at the verdict, which is the last of a run."""
        out: list[Messages] = [[] for _ in self.TOPICS]
        for port, newest in self._newest.items():
            if port in self.context.topics:
                newest.feed(logs[self.context.topics[port]])
        scores = logs[self.context.topics["score"]]["tick"].tolist() if "score" in self.context.topics else []
        while (tick := self._tick(self._k)) < end:
            for verdict in scores:
                if self._newest["score"].tick < verdict < tick:
                    self._picture(verdict, False, out)
            self._picture(tick, self._k % self._rate_hz == 0, out)
            self._k += 1
        for verdict in scores:
            if self._newest["score"].tick < verdict:
                self._picture(verdict, False, out)
        self._passed += self._newest["passage"].advance(end)
        for newest in self._newest.values():
            newest.advance(end)
        return out

    def _tick(self, k: int) -> int:
        """The tick of picture k."""
        return first_tick(k, self._rate_hz, self.context.period_ns)

    def _picture(self, tick: int, full: bool, out: list[Messages]) -> None:
        newest = self._newest
        self._passed += newest["passage"].advance(tick)
        for port in ("truth", "reference", "camera", "gates"):
            newest[port].advance(tick)
        verdict = newest["score"].advance(tick) > 0
        if verdict:
            score = newest["score"].record
            self._over = True
            if int(score["reason"]) == Verdict.FRAME_HIT:
                self._hit = int(score["failed_gate"])
        transforms, scene, course, trail, image, calibration, annotations = out
        now = tick * self.context.period_ns
        stamp = Timestamp(sec=now // NS_PER_S, nsec=now % NS_PER_S)
        if newest["truth"].record is not None:
            self._draw_vehicle(tick, stamp, full or verdict, transforms, scene, trail)
        key = (self._passed, self._hit)
        if full or verdict or key != self._course_key:
            course.append((tick, self._course_message(key)))
        if full:
            image.append((tick, self._image_message(stamp)))
            calibration.append((tick, self._calibration_message(stamp)))
        annotations.append((tick, self._annotations(now, stamp)))

    def _draw_vehicle(
        self, tick: int, stamp: Timestamp, full: bool, transforms: Messages, scene: Messages, trail: Messages
    ) -> None:
        v = _TRUTH.unpack_from(self._newest["truth"].record.tobytes(), _TRUTH_OFFSET)
        position, velocity, attitude = Vec3(*v[0:3]), Vec3(*v[3:6]), Quat(*v[6:10])
        here = (position.x, position.y, position.z)
        transforms.append((tick, self._transforms(stamp, here, attitude)))
        forces = self._forces(here, velocity, attitude, v[13:17], v[17])
        entities = [shapes.entity("forces", WORLD, arrows=forces)]
        if self._newest["reference"].record is not None:
            at = self._newest["reference"].record["position"]
            carrot = (float(at["x"]), float(at["y"]), float(at["z"]))
            pose = FoxglovePose(position=shapes.vector(carrot), orientation=NO_TURN)
            ball = SpherePrimitive(pose=pose, size=Vector3(x=0.12, y=0.12, z=0.12), color=shapes.YELLOW)
            leash = shapes.line([here, carrot], shapes.YELLOW, 1.5)
            entities.append(shapes.entity("carrot", WORLD, spheres=[ball], lines=[leash]))
        every = max(1, self._rate_hz // TRAIL_HZ)
        if self._k % every == 0:
            self._trail.append(here)
        tip = [*list(self._trail)[-TRAIL_HZ - 1 :], here]
        entities.append(shapes.entity("trail_tip", WORLD, lines=[shapes.line(tip, shapes.CYAN, 3)]))
        scene.append((tick, SceneUpdate(entities=entities).encode()))
        if full:
            flown = shapes.entity("trail", WORLD, lines=[shapes.line(self._trail, shapes.CYAN, 3)])
            trail.append((tick, SceneUpdate(entities=[flown]).encode()))

    def _transforms(self, stamp: Timestamp, here: shapes.Point, attitude: Quat) -> bytes:
        drone = FrameTransform(
            timestamp=stamp,
            parent_frame_id=WORLD,
            child_frame_id=DRONE,
            translation=shapes.vector(here),
            rotation=shapes.quaternion(attitude),
        )
        lens = FrameTransform(
            timestamp=stamp,
            parent_frame_id=DRONE,
            child_frame_id=CAMERA,
            translation=shapes.vector(self._lens.position),
            rotation=shapes.quaternion(self._lens.attitude),
        )
        return FrameTransforms(transforms=[drone, lens]).encode()

    def _forces(self, here: shapes.Point, velocity: Vec3, attitude: Quat, speeds: Any, energy: float) -> list[Any]:
        """Thrust of each rotor at its hub, drag and weight at the centre of mass, as the true vehicle has them."""
        p, scale = self._params, shapes.FORCE_SCALE
        up = self._rotate(attitude, Vec3(0.0, 0.0, 1.0))
        arrows = []
        for x, y, thrust in zip(p.rotor_x, p.rotor_y, self._thrusts(p, speeds, energy), strict=True):
            hub = self._rotate(attitude, Vec3(x, y, 0.02))
            at = (here[0] + hub.x, here[1] + hub.y, here[2] + hub.z)
            length = scale * thrust
            arrows.append(shapes.arrow(at, (length * up.x, length * up.y, length * up.z), shapes.GREEN))
        drag = self._rotate(attitude, self._body_force(p, velocity, attitude, 0.0))
        arrows.append(shapes.arrow(here, (scale * drag.x, scale * drag.y, scale * drag.z), shapes.RED))
        arrows.append(shapes.arrow(here, (0.0, 0.0, -scale * p.mass * p.gravity), shapes.WHITE))
        return arrows

    def _course_message(self, key: tuple[int, int]) -> bytes:
        if key != self._course_key:
            self._course_key = key
            done = self._passed % len(self._lap)
            laps = self.context.world.scenario.laps
            finished = laps is not None and self._passed >= laps * len(self._lap)
            passed = set(self._lap) if finished else set(self._lap[:done])
            following = -1 if finished or laps is None else self._lap[done]
            entities = [self._gate(row, passed, following) for row in range(len(self._course.gates))]
            self._course_bytes = SceneUpdate(entities=[*self._fixed, *entities]).encode()
        return self._course_bytes

    def _gate(self, row: int, passed: set[int], following: int) -> SceneEntity:
        state = "hit" if row == self._hit else "next" if row == following else "passed" if row in passed else "ahead"
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

    def _image_message(self, stamp: Timestamp) -> bytes:
        return CompressedImage(timestamp=stamp, frame_id=CAMERA, data=self._image, format="png").encode()

    def _calibration_message(self, stamp: Timestamp) -> bytes:
        m = self._lens
        return CameraCalibration(
            timestamp=stamp,
            frame_id=CAMERA,
            width=int(m.width),
            height=int(m.height),
            distortion_model="kannala_brandt",
            D=[m.k1, m.k2, m.k3, m.k4],
            K=[m.fx, 0.0, m.cx, 0.0, m.fy, m.cy, 0.0, 0.0, 1.0],
            R=[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
            P=[m.fx, 0.0, m.cx, 0.0, 0.0, m.fy, m.cy, 0.0, 0.0, 0.0, 1.0, 0.0],
        ).encode()

    def _annotations(self, now: int, stamp: Timestamp) -> bytes:
        """The corners of the gates seen last, by gate number; and what is wrong with the camera."""
        points, texts = [], []
        newest = self._newest["gates"]
        if newest.record is not None and now - newest.tick * self.context.period_ns <= STALE_NS:
            data = newest.record.tobytes()
            for slot in range(int(newest.record["visible"])):
                *pixels, _, _, index = _SEEN.unpack_from(data, _SEEN_OFFSET + slot * _SEEN.size)
                corners = [Point2(x=u, y=v) for u, v in zip(pixels[::2], pixels[1::2], strict=True)]
                points.append(
                    PointsAnnotation(
                        timestamp=stamp,
                        type=PointsAnnotationType.LineLoop,
                        points=corners,
                        outline_color=PIXEL_COLOR,
                        thickness=2,
                    )
                )
                number = str(self._course.gates[index].id) if 0 <= index < len(self._course.gates) else "?"
                texts.append(_words(stamp, corners[0], number, PIXEL_COLOR))
        frame = self._newest["camera"]
        if frame.record is not None:
            late = now - frame.tick * self.context.period_ns > STALE_NS
            wrong = "no frames" if late else "corrupted" if frame.record["corrupted"] else ""
            if wrong:
                texts.append(_words(stamp, Point2(x=16, y=40), wrong, WARNING_COLOR))
        return ImageAnnotations(timestamp=stamp, points=points, texts=texts).encode()


def _words(stamp: Timestamp, at: Point2, words: str, color: Color) -> TextAnnotation:
    return TextAnnotation(timestamp=stamp, position=at, text=words, font_size=18, text_color=color)
