"""The camera without rendering: frame headers, and the gates a perfect detector would see in each frame.

A gate is seen when its four inner corners lie in front of the camera and inside the image, from either side. The
nearest are reported, nearest first. Not modelled: rolling shutter, occlusion.
"""

import math
from typing import Annotated, NamedTuple

import numpy as np

from blocks import camera
from blocks.kernel import inlined
from blocks.math import Vec3
from blocks.plain import plain
from blocks.splitmix64 import uniform
from graph.node import Context, Maybe, Setup, node
from msgs.camera_frame import CameraFrame
from msgs.fault import Fault, FaultKind
from msgs.gate_observations import GateObservation, GateObservations, Pixel
from msgs.truth_state import TruthState
from msgs.types import UInt32, UInt64
from scenarios.course import MAX_GATES, Course
from scenarios.vehicle import Vehicle

CAMERA_CORRUPT = int(FaultKind.CAMERA_CORRUPT)
CAMERA_BLACKOUT = int(FaultKind.CAMERA_BLACKOUT)
CORNERS = 12  # columns of a gate's corners: x, y, z in the order of GateObservation


class Params(NamedTuple):
    """The camera, and the course's gates."""

    camera: camera.Params
    gates: Annotated[np.ndarray, (MAX_GATES, CORNERS + 3)]  # m, world: four inner corners, then the centre
    gate_count: int
    corner_variance: float  # px^2


class State(NamedTuple):
    """Frame number, active faults, and the stream that corrupts frames."""

    sequence: UInt32  # of the next frame
    corrupt_probability: float  # 1
    blackouts: int  # active at present
    random: UInt64  # SplitMix64 state, one draw per frame


class Out(NamedTuple):
    """What the camera publishes."""

    camera: Maybe[CameraFrame]
    gates: Maybe[GateObservations]


Four = tuple[GateObservation, GateObservation, GateObservation, GateObservation]
Distances = tuple[float, float, float, float]


class Seen(NamedTuple):
    """The nearest gates found so far, nearest first."""

    gates: Four
    distances: Distances  # m^2, squared; infinite where there is none
    found: int


@inlined
def point(p: Params, gate: int, column: int) -> Vec3:
    """A point of the gate table, m, world."""
    return Vec3(p.gates[gate, column], p.gates[gate, column + 1], p.gates[gate, column + 2])


@inlined
def nothing() -> GateObservation:
    """An unfilled observation."""
    none = Pixel(0.0, 0.0)
    return GateObservation((none, none, none, none), 0.0, 0.0, -1)


@inlined
def inserted(seen: Seen, gate: GateObservation, distance: float) -> Seen:
    """The nearest four with one more gate at its place; it is nearer than the last of them."""
    a, b, c, _ = seen.gates
    i, j, k, _ = seen.distances
    count = seen.found + 1 if seen.found < 4 else 4
    if distance < i:
        return Seen((gate, a, b, c), (distance, i, j, k), count)
    if distance < j:
        return Seen((a, gate, b, c), (i, distance, j, k), count)
    if distance < k:
        return Seen((a, b, gate, c), (i, j, distance, k), count)
    return Seen((a, b, c, gate), (i, j, k, distance), count)


@inlined
def seen_from(p: Params, truth: TruthState) -> Seen:
    """The nearest gates whose four inner corners are in the image."""
    none, far = nothing(), math.inf
    seen = Seen((none, none, none, none), (far, far, far, far), 0)
    lens, view = p.camera, camera.view_of(p.camera, truth.position, truth.attitude)
    for gate in range(p.gate_count):
        centre = camera.to_camera(view, point(p, gate, CORNERS))
        distance = centre.x * centre.x + centre.y * centre.y + centre.z * centre.z
        if not (centre.z > 0.0 and distance < seen.distances[3]):
            continue
        top_left = camera.project(lens, view, point(p, gate, 0))
        if not top_left.inside:
            continue
        top_right = camera.project(lens, view, point(p, gate, 3))
        if not top_right.inside:
            continue
        bottom_right = camera.project(lens, view, point(p, gate, 6))
        if not bottom_right.inside:
            continue
        bottom_left = camera.project(lens, view, point(p, gate, 9))
        if not bottom_left.inside:
            continue
        corners = (
            Pixel(top_left.u, top_left.v),
            Pixel(top_right.u, top_right.v),
            Pixel(bottom_right.u, bottom_right.v),
            Pixel(bottom_left.u, bottom_left.v),
        )
        seen = inserted(seen, GateObservation(corners, p.corner_variance, 1.0, gate), distance)
    return seen


@node
def camera_oracle(p: Params, s: State, t: int, truth: TruthState) -> tuple[State, Out]:
    """One frame of the true state at t."""
    random, draw = uniform(s.random)
    delivered = not s.blackouts > 0
    seen = seen_from(p, truth)
    frame = CameraFrame(
        stamp=t,
        sequence=s.sequence,
        width=int(p.camera.width),
        height=int(p.camera.height),
        corrupted=draw < s.corrupt_probability,
    )
    gates = GateObservations(stamp=t, gates=seen.gates, sequence=s.sequence, visible=seen.found)
    return (
        State(sequence=s.sequence + 1, corrupt_probability=s.corrupt_probability, blackouts=s.blackouts, random=random),
        Out(camera=Maybe(present=delivered, value=frame), gates=Maybe(present=delivered, value=gates)),
    )


@camera_oracle.each
def faults(p: Params, s: State, faults: Fault) -> State:
    """camera_corrupt: the newest one's probability. camera_blackout: neither output while one is active."""
    probability, blackouts = s.corrupt_probability, s.blackouts
    if faults.kind == CAMERA_CORRUPT:
        probability = faults.value if faults.active else 0.0
    if faults.kind == CAMERA_BLACKOUT:
        blackouts = max(0, blackouts + (1 if faults.active else -1))
    return State(sequence=s.sequence, corrupt_probability=probability, blackouts=blackouts, random=s.random)


def gate_table(course: Course) -> np.ndarray:
    """Per gate its inner corners (top left, top right, bottom right, bottom left as flown at) and centre, m, world."""
    table = np.zeros((MAX_GATES, CORNERS + 3))
    for row, gate in enumerate(course.gates):
        x, y, z = gate.position_m
        half_width, half_height = 0.5 * gate.inner_size_m[0], 0.5 * gate.inner_size_m[1]
        left_x, left_y = gate.left[0] * half_width, gate.left[1] * half_width
        sides = ((1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0))
        corners = [(x + side * left_x, y + side * left_y, z + up * half_height) for side, up in sides]
        table[row] = [value for corner in corners for value in corner] + [x, y, z]
    return table


def lens_of(vehicle: Vehicle) -> camera.Params:
    """The vehicle's camera."""
    c = vehicle.camera
    k1, k2, k3, k4 = c.distortion
    attitude = plain(camera.mount)(math.radians(c.tilt_up_deg))
    size = (float(c.width_px), float(c.height_px))
    return camera.Params(*size, c.fx_px, c.fy_px, c.cx_px, c.cy_px, k1, k2, k3, k4, Vec3(*c.position_m), attitude)


def configure(context: Context) -> Setup:
    """The vehicle's camera on the course."""
    world = context.world
    return Setup(
        params=Params(
            camera=lens_of(world.vehicle),
            gates=gate_table(world.course),
            gate_count=len(world.course.gates),
            corner_variance=world.scenario.sim.oracle_corner_sigma_px**2,
        ),
        state=State(sequence=0, corrupt_probability=0.0, blackouts=0, random=context.stream("corrupt")),
        rate_hz=world.vehicle.camera.rate_hz,
    )
