"""What the camera sees: a blank image, its calibration, and the corners of gates drawn upon it."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

from foxglove.messages import (
    CameraCalibration,
    Color,
    CompressedImage,
    ImageAnnotations,
    Point2,
    PointsAnnotation,
    PointsAnnotationType,
    TextAnnotation,
    Timestamp,
)

from msgs.gate_observations import MAX_VISIBLE_GATES, GateObservations
from msgs.layout import record_dtype
from nodes.camera_oracle import lens_of
from nodes.draw import shapes
from nodes.draw.newest import Newest
from nodes.draw.shapes import CAMERA
from scenarios.world import World

STALE_NS = 100_000_000  # gates seen longer ago are not drawn
PIXEL_COLOR = Color(r=0.2, g=1, b=0.4, a=1)
WARNING_COLOR = Color(r=1, g=0.3, b=0.3, a=1)

_SEEN = struct.Struct("<8d2dq")  # corners u and v, variance, quality, gate
_FIELDS: Mapping[str, Any] = record_dtype(GateObservations).fields or {}
_OFFSET: int = _FIELDS["gates"][1]
assert _FIELDS["gates"][0].itemsize == MAX_VISIBLE_GATES * _SEEN.size


class CameraDrawing:
    """Draws what the camera of a world sees; ``period_ns`` is the length of a tick."""

    def __init__(self, world: World, period_ns: int) -> None:
        self._period_ns = period_ns
        self._ids = world.course.gate_ids
        self._image = shapes.blank_png(world.vehicle.camera.width_px, world.vehicle.camera.height_px)
        self._lens = lens_of(world.vehicle)

    def image(self, stamp: Timestamp) -> bytes:
        """A blank image of the camera's size."""
        return CompressedImage(timestamp=stamp, frame_id=CAMERA, data=self._image, format="png").encode()

    def calibration(self, stamp: Timestamp) -> bytes:
        """The lens."""
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

    def annotations(self, now: int, stamp: Timestamp, gates: Newest, frames: Newest) -> bytes:
        """The corners of the gates seen last, by gate number; and what is wrong with the camera. ``now`` in ns."""
        points, texts = [], []
        if gates.record is not None and not self._is_stale(gates, now):
            data = gates.record.tobytes()
            for slot in range(int(gates.record["visible"])):
                *pixels, _, _, index = _SEEN.unpack_from(data, _OFFSET + slot * _SEEN.size)
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
                number = str(self._ids[index]) if 0 <= index < len(self._ids) else "?"
                texts.append(_words(stamp, corners[0], number, PIXEL_COLOR))
        if frames.record is not None:
            late = self._is_stale(frames, now)
            wrong = "no frames" if late else "corrupted" if frames.record["corrupted"] else ""
            if wrong:
                texts.append(_words(stamp, Point2(x=16, y=40), wrong, WARNING_COLOR))
        return ImageAnnotations(timestamp=stamp, points=points, texts=texts).encode()

    def _is_stale(self, newest: Newest, now: int) -> bool:
        return now - newest.tick * self._period_ns > STALE_NS


def _words(stamp: Timestamp, at: Point2, words: str, color: Color) -> TextAnnotation:
    return TextAnnotation(timestamp=stamp, position=at, text=words, font_size=18, text_color=color)
