"""The camera's pixels: a test pattern in place of a rendered image, where ``sim.test_pattern_frames: true``.

A diagonal ramp that moves one pixel per frame; a corrupted frame is its negative. Without the scenario's key camera
frames stay headers only: nothing consumes images yet, and they are forty megabytes a second.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from foxglove.messages import RawImage, Timestamp

from graph.derived import Derivation, DerivationContext, DerivedTopic, Messages
from graph.memory import Array
from msgs.camera_frame import CameraFrame

TOPIC = "camera_pixels"


class TestPattern(Derivation):
    """Draws the pattern of every camera frame."""

    INPUTS: ClassVar[Mapping[str, type]] = {"camera": CameraFrame}
    TOPICS = (DerivedTopic(TOPIC, RawImage.get_schema().name, RawImage.get_schema().data),)

    def __init__(self, context: DerivationContext) -> None:
        super().__init__(context)
        camera = context.world.vehicle.camera
        self._width, self._height = camera.width_px, camera.height_px
        ramp = np.add.outer(np.arange(self._height), np.arange(self._width))
        self._ramp = ramp.astype(np.uint8)

    @classmethod
    def wanted(cls, world: Any) -> bool:
        """Only where the scenario asks for pixels."""
        return bool(world.scenario.sim.test_pattern_frames)

    def take(self, end: int, logs: Mapping[str, Array]) -> list[Messages]:
        """One grey image (mono8, row by row from the top left) per camera frame of the window."""
        topic = self.context.topics.get("camera")
        frames = logs[topic] if topic is not None else ()
        return [[(int(frame["tick"]), self._image(frame["data"])) for frame in frames]]

    def _image(self, frame: Any) -> bytes:
        pixels = self._ramp + np.uint8(int(frame["sequence"]) & 0xFF)
        if frame["corrupted"]:
            pixels = ~pixels
        stamp = frame["header"]["stamp"]
        image = RawImage(
            timestamp=Timestamp(sec=int(stamp["sec"]), nsec=int(stamp["nanosec"])),
            frame_id="camera",
            width=self._width,
            height=self._height,
            encoding="mono8",
            step=self._width,
            data=pixels.tobytes(),
        )
        return image.encode()
