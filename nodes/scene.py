"""The scene: what a viewer draws, derived from the recorded topics and recorded with them.

Thirty times a simulated second: transforms, forces, carrot, and the corners the detector saw. Once a second, and when a
gate changes: the course with passed, next and hit gates, the airframe, the path flown and to fly. Each topic's newest
message is complete by itself, so that a viewer can begin anywhere. Frames: world (z up), drone (x forward, y left,
z up), camera (optical: z along the view, x right, y down). Messages are Foxglove's, encoded by its own library.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from foxglove.messages import (
    CameraCalibration,
    CompressedImage,
    FrameTransforms,
    ImageAnnotations,
    SceneUpdate,
    Timestamp,
)
from pydantic import Field

from graph.config import Config
from graph.derived import Derivation, DerivationContext, DerivedTopic, Messages
from graph.memory import Array
from graph.schedule import first_tick
from msgs.camera_frame import CameraFrame
from msgs.gate_observations import GateObservations
from msgs.gate_passage import GatePassage
from msgs.reference import Reference
from msgs.score import Score, Verdict
from msgs.truth_state import TruthState
from msgs.units import NS_PER_S
from nodes.draw.camera import CameraDrawing
from nodes.draw.course import CourseDrawing
from nodes.draw.newest import Newest
from nodes.draw.vehicle import VehicleDrawing, truth_of

TRAIL_HZ = 10


class Options(Config):
    """Options of the scene."""

    rate_hz: int = Field(default=30, ge=1, le=1000, description="pictures per simulated second, Hz")


def _topic(name: str, message: Any) -> DerivedTopic:
    schema = message.get_schema()
    return DerivedTopic(name, schema.name, schema.data)


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
        self._vehicle = VehicleDrawing(world)
        self._course = CourseDrawing(world)
        self._camera = CameraDrawing(world, context.period_ns)
        self._newest = {port: Newest() for port in self.INPUTS}
        self._k = 0
        self._passed = 0
        self._hit = -1  # index of the gate whose frame was hit

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
        if verdict and int(newest["score"].record["reason"]) == Verdict.FRAME_HIT:
            self._hit = int(newest["score"].record["failed_gate"])
        transforms, scene, course, trail, image, calibration, annotations = out
        now = tick * self.context.period_ns
        stamp = Timestamp(sec=now // NS_PER_S, nsec=now % NS_PER_S)
        if newest["truth"].record is not None:
            truth = truth_of(newest["truth"].record)
            if self._k % max(1, self._rate_hz // TRAIL_HZ) == 0:
                self._vehicle.remember(truth)
            transforms.append((tick, self._vehicle.transforms(stamp, truth)))
            scene.append((tick, self._vehicle.scene(truth, newest["reference"].record)))
            if full or verdict:
                trail.append((tick, self._vehicle.trail()))
        if full or verdict or self._course.has_changed(self._passed, self._hit):
            course.append((tick, self._course.message(self._passed, self._hit)))
        if full:
            image.append((tick, self._camera.image(stamp)))
            calibration.append((tick, self._camera.calibration(stamp)))
        annotations.append((tick, self._camera.annotations(now, stamp, newest["gates"], newest["camera"])))
