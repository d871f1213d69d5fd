"""The vehicle: where it is, the forces on it, the point it is led by, and the path it has flown."""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Mapping
from typing import Any, NamedTuple

from foxglove.messages import (
    FrameTransform,
    FrameTransforms,
    SceneUpdate,
    SpherePrimitive,
    Timestamp,
    Vector3,
)
from foxglove.messages import Pose as FoxglovePose

from blocks import quadrotor
from blocks.math import Quat, Vec3, rotate
from blocks.plain import plain
from msgs.layout import record_dtype
from msgs.truth_state import TruthState
from nodes.camera_oracle import lens_of
from nodes.draw import shapes
from nodes.draw.shapes import CAMERA, DRONE, NO_TURN, WORLD
from scenarios.world import World

TIP_POINTS = 11
TRAIL_POINTS = 600

_TRUTH = struct.Struct("<18d")
_FIELDS: Mapping[str, Any] = record_dtype(TruthState).fields or {}
_OFFSET: int = _FIELDS["position"][1]  # position, velocity, attitude, body rates, rotor speeds, energy
assert _FIELDS["energy"][1] == _OFFSET + _TRUTH.size - 8


class Truth(NamedTuple):
    """What is drawn of a true state."""

    position: shapes.Point  # m, world
    velocity: Vec3  # m/s, world
    attitude: Quat  # body to world
    rotor_speeds: tuple[float, ...]  # rad/s
    energy: float  # J, drawn from the battery


def truth_of(record: Any) -> Truth:
    """A record of TruthState."""
    v = _TRUTH.unpack_from(record.tobytes(), _OFFSET)
    return Truth((v[0], v[1], v[2]), Vec3(*v[3:6]), Quat(*v[6:10]), v[13:17], v[17])


class VehicleDrawing:
    """Draws the vehicle of a world, and remembers where it was."""

    def __init__(self, world: World) -> None:
        self._params = world.plant_params()
        self._lens = lens_of(world.vehicle)
        self._thrusts, self._body_force = plain(quadrotor.rotor_thrusts), plain(quadrotor.body_force)
        self._rotate = plain(rotate)
        self._trail: deque[shapes.Point] = deque(maxlen=TRAIL_POINTS)

    def remember(self, truth: Truth) -> None:
        """Add a point to the trail."""
        self._trail.append(truth.position)

    def transforms(self, stamp: Timestamp, truth: Truth) -> bytes:
        """Where drone and camera are."""
        drone = FrameTransform(
            timestamp=stamp,
            parent_frame_id=WORLD,
            child_frame_id=DRONE,
            translation=shapes.vector(truth.position),
            rotation=shapes.quaternion(truth.attitude),
        )
        lens = FrameTransform(
            timestamp=stamp,
            parent_frame_id=DRONE,
            child_frame_id=CAMERA,
            translation=shapes.vector(self._lens.position),
            rotation=shapes.quaternion(self._lens.attitude),
        )
        return FrameTransforms(transforms=[drone, lens]).encode()

    def scene(self, truth: Truth, reference: Any | None) -> bytes:
        """Forces, the carrot if there is a record of a reference, and the end of the trail."""
        here = truth.position
        entities = [shapes.entity("forces", WORLD, arrows=self._forces(truth))]
        if reference is not None:
            at = reference["position"]
            carrot = (float(at["x"]), float(at["y"]), float(at["z"]))
            pose = FoxglovePose(position=shapes.vector(carrot), orientation=NO_TURN)
            ball = SpherePrimitive(pose=pose, size=Vector3(x=0.12, y=0.12, z=0.12), color=shapes.YELLOW)
            leash = shapes.line([here, carrot], shapes.YELLOW, 1.5)
            entities.append(shapes.entity("carrot", WORLD, spheres=[ball], lines=[leash]))
        tip = [*list(self._trail)[-TIP_POINTS:], here]
        entities.append(shapes.entity("trail_tip", WORLD, lines=[shapes.line(tip, shapes.CYAN, 3)]))
        return SceneUpdate(entities=entities).encode()

    def trail(self) -> bytes:
        """The path flown."""
        flown = shapes.entity("trail", WORLD, lines=[shapes.line(self._trail, shapes.CYAN, 3)])
        return SceneUpdate(entities=[flown]).encode()

    def _forces(self, truth: Truth) -> list[Any]:
        """Thrust of each rotor at its hub, drag and weight at the centre of mass, as the true vehicle has them."""
        p, scale, here, attitude = self._params, shapes.FORCE_SCALE, truth.position, truth.attitude
        up = self._rotate(attitude, Vec3(0.0, 0.0, 1.0))
        arrows = []
        thrusts = self._thrusts(p, truth.rotor_speeds, truth.energy)
        for x, y, thrust in zip(p.rotor_x, p.rotor_y, thrusts, strict=True):
            hub = self._rotate(attitude, Vec3(x, y, 0.02))
            at = (here[0] + hub.x, here[1] + hub.y, here[2] + hub.z)
            length = scale * thrust
            arrows.append(shapes.arrow(at, (length * up.x, length * up.y, length * up.z), shapes.GREEN))
        drag = self._rotate(attitude, self._body_force(p, truth.velocity, attitude, 0.0))
        arrows.append(shapes.arrow(here, (scale * drag.x, scale * drag.y, scale * drag.z), shapes.RED))
        arrows.append(shapes.arrow(here, (0.0, 0.0, -scale * p.mass * p.gravity), shapes.WHITE))
        return arrows
