"""Follows a carrot along the path through the gates.

The path leads from where the vehicle is straight up to the height of the first gate, and then, for each lap and gate,
to a point before the gate on its normal, its centre, and a point behind it, so that every crossing is straight. The
reference is the point a lookahead further along the segment than the vehicle's projection on it, held at the
segment's end, with the path's direction times the speed as feed-forward. The next segment begins once the vehicle
passes the end of the present one or comes within the switch radius of it: held at a sharp corner, the vehicle would
otherwise never pass.

Speed is cruise, corner speed near a corner sharper than the corner angle, and zero at the end of the path. Yaw is the
path's heading; on a vertical segment the last heading is held.

Invariants: the segment lies in [0, waypoints - 1) and never decreases.
"""

import math
from typing import Annotated, NamedTuple

import numpy as np

from baselines.slots import SlotContext, like, no_reference
from blocks.kernel import inlined
from blocks.math import Vec3, dot, norm, scale, sub, yaw_of
from blocks.trigonometry import atan2, plain_cos
from graph.errors import InputError
from graph.node import Maybe
from msgs.reference import Reference
from msgs.state_estimate import StateEstimate
from msgs.types import UInt32
from scenarios.course import MAX_SEQUENCE

KIND = "planner"

ROWS = 3 * MAX_SEQUENCE
GATE_APPROACH_M = 2.0  # default: waypoints lie so far before and behind a gate
LEVEL = 1e-6  # m^2, squared horizontal extent above which a segment has a heading


class Params(NamedTuple):
    """The path of one lap, and how to fly it."""

    lap: Annotated[np.ndarray, (ROWS, 3)]  # m, world: before, at and behind each gate
    rows: int  # waypoints of a lap
    waypoints: int  # waypoints of the whole path, with the start and the climb
    climb_z: float  # m, height of the first gate
    cruise_speed: float  # m/s
    corner_speed: float  # m/s
    corner_radius: float  # m
    corner_cosine: float  # of the angle above which a corner is sharp
    lookahead: float  # m
    switch_radius: float  # m


class State(NamedTuple):
    """Where on the path the vehicle is."""

    start: Vec3  # m, world, the first waypoint
    yaw: float  # rad, of the present segment
    arc: float  # m, length of the path before the present segment
    segment: UInt32
    started: bool


@inlined
def waypoint(p: Params, start: Vec3, index: int) -> Vec3:
    """A waypoint of the path, m, world."""
    if index == 0:
        return start
    if index == 1:
        return Vec3(start.x, start.y, p.climb_z)
    row = (index - 2) % p.rows
    return Vec3(like(p.climb_z, p.lap[row, 0]), like(p.climb_z, p.lap[row, 1]), like(p.climb_z, p.lap[row, 2]))


@inlined
def direction(a: Vec3, b: Vec3) -> Vec3:
    """Unit vector from a to b; zero where they coincide."""
    d = sub(b, a)
    length = norm(d)
    return scale(d, 1.0 / length) if length > 0.0 else d


@inlined
def heading(a: Vec3, b: Vec3, last: float) -> float:
    """Heading from a to b, rad; the last one when b is straight above or below a."""
    x, y = b.x - a.x, b.y - a.y
    return atan2(y, x) if x * x + y * y > LEVEL else last


@inlined
def sharp(p: Params, before: Vec3, after: Vec3) -> bool:
    """Whether the path turns by more than the corner angle between two directions."""
    return dot(before, after) < p.corner_cosine


@inlined
def near(p: Params, at: Vec3, corner: Vec3) -> bool:
    """Whether the vehicle is within the corner radius of a waypoint."""
    return norm(sub(at, corner)) < p.corner_radius


@inlined
def advanced(p: Params, s: State, at: Vec3) -> State:
    """The state once the segment is one whose end the vehicle has yet to reach."""
    segment, arc, yaw = s.segment, s.arc, s.yaw
    a, b = waypoint(p, s.start, segment), waypoint(p, s.start, segment + 1)
    while segment < p.waypoints - 2:
        d = sub(b, a)
        away = sub(at, b)
        if not (dot(away, d) >= 0.0 or norm(away) < p.switch_radius):
            break
        segment += 1
        arc = arc + norm(d)
        a, b = b, waypoint(p, s.start, segment + 1)
        yaw = heading(a, b, yaw)
    return State(start=s.start, yaw=yaw, arc=arc, segment=segment, started=True)


@inlined
def plan(p: Params, s: State, t: int, estimate: StateEstimate) -> tuple[State, Maybe[Reference]]:
    """The carrot on the path for the estimate; nothing while the estimator is not healthy."""
    if not estimate.healthy:
        return s, no_reference(p.lookahead * 0.0)
    at = estimate.position
    if not s.started:
        s = State(start=at, yaw=yaw_of(estimate.attitude), arc=p.lookahead * 0.0, segment=0, started=True)
    s = advanced(p, s, at)
    a, b = waypoint(p, s.start, s.segment), waypoint(p, s.start, s.segment + 1)
    along_path = direction(a, b)
    length = norm(sub(b, a))
    along = dot(sub(at, a), along_path)
    zero = length * 0.0
    projection = zero if along < zero else (length if along > length else along)
    carrot = projection + p.lookahead
    final = s.segment == p.waypoints - 2
    held = carrot >= length
    carrot = length if held else carrot

    speed = p.cruise_speed
    if not final and near(p, at, b) and sharp(p, along_path, direction(b, waypoint(p, s.start, s.segment + 2))):
        speed = p.corner_speed
    if s.segment > 0 and near(p, at, a) and sharp(p, direction(waypoint(p, s.start, s.segment - 1), a), along_path):
        speed = p.corner_speed
    if final and held:
        speed = zero
    reference = Reference(
        stamp=t,
        position=Vec3(a.x + carrot * along_path.x, a.y + carrot * along_path.y, a.z + carrot * along_path.z),
        velocity=scale(along_path, speed),
        yaw=s.yaw,
        progress=s.arc + projection,
        segment=s.segment,
    )
    return s, Maybe(present=True, value=reference)


def configure(context: SlotContext) -> tuple[Params, State]:
    """The path over the scenario's laps, one if it has none. Raises InputError for a bad parameter."""
    world = context.world
    lookahead = context.parameter("lookahead_m", 0.3, above=0.0)
    switch_radius = context.parameter("switch_radius_m", 1.0, above=0.0)
    if switch_radius <= lookahead:
        raise InputError(
            f"baseline {world.baseline.name}: parameters.switch_radius_m: is {switch_radius:g}; must be greater than "
            f"lookahead_m, {lookahead:g}: the vehicle stops that far short of a corner"
        )
    cruise_speed = context.parameter("cruise_speed_m_s", 4.0, above=0.0)
    points = world.course.waypoints(context.parameter("gate_approach_m", GATE_APPROACH_M, above=0.0))
    lap = np.zeros((ROWS, 3))
    lap[: len(points)] = points
    zero = Vec3(0.0, 0.0, 0.0)
    return (
        Params(
            lap=lap,
            rows=len(points),
            waypoints=2 + len(points) * (world.scenario.laps or 1),
            climb_z=world.course.lap[0].position_m[2],
            cruise_speed=cruise_speed,
            corner_speed=context.parameter("corner_speed_m_s", 2.5, above=0.0, high=cruise_speed),
            corner_radius=context.parameter("corner_radius_m", 1.5, low=0.0),
            corner_cosine=plain_cos(math.radians(context.parameter("corner_angle_deg", 60.0, low=0.0, high=180.0))),
            lookahead=lookahead,
            switch_radius=switch_radius,
        ),
        State(start=zero, yaw=0.0, arc=0.0, segment=0, started=False),
    )
