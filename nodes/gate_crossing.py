"""Where a straight path crosses the planes of a course's gates, and what it meets there.

A gate is a row of numbers: its centre x, y, z in m, cosine and sine of the heading it is flown at, half the width and
half the height of its opening in m.
"""

import math
from typing import NamedTuple

import numpy as np

from blocks.kernel import inlined
from blocks.math import Vec3
from scenarios.course import MAX_GATES, Course

COLUMNS = 7
FRAME_MARGIN = 0.5  # m, width of a frame around its opening


class Crossing(NamedTuple):
    """Where a straight path crosses a gate's plane."""

    fraction: float  # of the path, 0 to 1; outside when the line crosses beyond it
    across: float  # m, to the left of the centre as flown at
    above: float  # m, above the centre


@inlined
def beyond(gates: np.ndarray, gate: int, at: Vec3) -> float:
    """Signed distance of a point from a gate's plane, m; positive once flown through."""
    return (at.x - gates[gate, 0]) * gates[gate, 3] + (at.y - gates[gate, 1]) * gates[gate, 4]


@inlined
def crossing(gates: np.ndarray, gate: int, a: Vec3, b: Vec3, before: float, after: float) -> Crossing:
    """The crossing of the line from a to b, whose distances from the plane are before and after."""
    f = before / (before - after)
    x = a.x + f * (b.x - a.x) - gates[gate, 0]
    y = a.y + f * (b.y - a.y) - gates[gate, 1]
    z = a.z + f * (b.z - a.z) - gates[gate, 2]
    return Crossing(f, y * gates[gate, 3] - x * gates[gate, 4], z)


@inlined
def within(gates: np.ndarray, gate: int, c: Crossing, margin: float) -> bool:
    """Whether a crossing lies in the opening widened by margin on each side."""
    return abs(c.across) <= gates[gate, 5] + margin and abs(c.above) <= gates[gate, 6] + margin


@inlined
def distance(c: Crossing) -> float:
    """Of a crossing from the gate's centre, m."""
    return math.sqrt(c.across * c.across + c.above * c.above)


@inlined
def hit_frame(gates: np.ndarray, count: int, a: Vec3, b: Vec3) -> int:
    """The gate whose frame the path from a to b touches, or -1."""
    for gate in range(count):
        before, after = beyond(gates, gate, a), beyond(gates, gate, b)
        if (before < 0.0) != (after < 0.0):
            c = crossing(gates, gate, a, b, before, after)
            if within(gates, gate, c, FRAME_MARGIN) and not within(gates, gate, c, 0.0):
                return gate
    return -1


def rows_of(course: Course) -> np.ndarray:
    """The gates of a course by index, (MAX_GATES, COLUMNS); zeros behind the last."""
    gates = np.zeros((MAX_GATES, COLUMNS))
    for row, gate in enumerate(course.gates):
        width, height = gate.inner_size_m
        gates[row] = [*gate.position_m, *gate.forward, 0.5 * width, 0.5 * height]
    return gates
