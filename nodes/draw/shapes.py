"""Foxglove primitives the scene is drawn with, and the parts of the picture that never move. Lengths in m."""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Sequence

from foxglove.messages import (
    ArrowPrimitive,
    Color,
    CubePrimitive,
    CylinderPrimitive,
    LinePrimitive,
    LinePrimitiveLineType,
    Point3,
    Pose,
    Quaternion,
    SceneEntity,
    TextPrimitive,
    Vector3,
)

from blocks import camera
from blocks.math import Quat
from blocks.trigonometry import plain_cos, plain_sin
from scenarios.course import Bounds, Gate
from scenarios.vehicle import Vehicle

WORLD, DRONE, CAMERA = "world", "drone", "camera"
FORCE_SCALE = 0.05  # m per N
FRUSTUM_LENGTH = 0.6
GATE_DEPTH = 0.06

RED, GREEN, BLUE = Color(r=0.9, g=0.15, b=0.15, a=1), Color(r=0.2, g=0.75, b=0.3, a=1), Color(r=0.2, g=0.45, b=1, a=1)
ORANGE, WHITE, GREY = Color(r=1, g=0.6, b=0.1, a=1), Color(r=1, g=1, b=1, a=1), Color(r=0.55, g=0.6, b=0.68, a=1)
YELLOW, CYAN, DARK = Color(r=1, g=0.9, b=0.2, a=1), Color(r=0.2, g=0.85, b=0.9, a=1), Color(r=0.2, g=0.22, b=0.26, a=1)
DISC = {1: Color(r=0.2, g=0.7, b=0.9, a=0.45), -1: Color(r=0.95, g=0.55, b=0.25, a=0.45)}
RIM = {1: CYAN, -1: ORANGE}
FENCE = Color(r=1, g=0.3, b=0.3, a=0.5)
NO_TURN = Quaternion(x=0, y=0, z=0, w=1)

Point = tuple[float, float, float]


def vector(v: Sequence[float]) -> Vector3:
    """A vector of three numbers."""
    return Vector3(x=v[0], y=v[1], z=v[2])


def quaternion(q: Quat) -> Quaternion:
    """An attitude, which is w first here and last there."""
    return Quaternion(x=q.x, y=q.y, z=q.z, w=q.w)


def about_z(angle: float) -> Quaternion:
    """A turn about z, rad."""
    return Quaternion(x=0, y=0, z=plain_sin(0.5 * angle), w=plain_cos(0.5 * angle))


def arrow(at: Point, v: Point, color: Color, width: float = 0.012) -> ArrowPrimitive:
    """An arrow from ``at`` along ``v``, as long as it."""
    length = math.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
    turn = NO_TURN
    if length > 0.0:
        w, y, z = 1.0 + v[0] / length, -v[2] / length, v[1] / length  # the shortest turn from x to v
        n = math.sqrt(w * w + y * y + z * z)
        turn = Quaternion(x=0, y=y / n, z=z / n, w=w / n) if n > 1e-6 else Quaternion(x=0, y=0, z=1, w=0)
    head = min(3.0 * width, 0.5 * length)
    return ArrowPrimitive(
        pose=Pose(position=vector(at), orientation=turn),
        shaft_length=length - head,
        shaft_diameter=width,
        head_length=head,
        head_diameter=2.5 * width,
        color=color,
    )


def line(
    points: Sequence[Point],
    color: Color,
    thickness: float,
    kind: LinePrimitiveLineType = LinePrimitiveLineType.LineStrip,
) -> LinePrimitive:
    """A line; thickness in pixels from 1 on, which is seen from anywhere, below it in m."""
    vertices = [Point3(x=x, y=y, z=z) for x, y, z in points]
    return LinePrimitive(type=kind, thickness=thickness, scale_invariant=thickness >= 1, points=vertices, color=color)


def text(at: Point, words: str, size: float, color: Color = WHITE) -> TextPrimitive:
    """Words that always face the viewer; size in m."""
    pose = Pose(position=vector(at), orientation=NO_TURN)
    return TextPrimitive(pose=pose, billboard=True, font_size=size, color=color, text=words)


def gate_cubes(gate: Gate, color: Color) -> list[CubePrimitive]:
    """The four beams between a gate's opening and its outer size."""
    x, y, z = gate.position_m
    left_x, left_y = gate.left
    (wide, high), (inner_wide, inner_high) = gate.outer_size_m, gate.inner_size_m
    turn = about_z(math.radians(gate.yaw_deg))
    beams = []
    for across, up, width, height in (
        (0.25 * (wide + inner_wide), 0.0, 0.5 * (wide - inner_wide), high),
        (-0.25 * (wide + inner_wide), 0.0, 0.5 * (wide - inner_wide), high),
        (0.0, 0.25 * (high + inner_high), inner_wide, 0.5 * (high - inner_high)),
        (0.0, -0.25 * (high + inner_high), inner_wide, 0.5 * (high - inner_high)),
    ):
        at = (x + left_x * across, y + left_y * across, z + up)
        pose = Pose(position=vector(at), orientation=turn)
        beams.append(CubePrimitive(pose=pose, size=Vector3(x=GATE_DEPTH, y=width, z=height), color=color))
    return beams


def gate_arrow(gate: Gate, color: Color) -> ArrowPrimitive:
    """The way a gate is flown through."""
    x, y, z = gate.position_m
    forward_x, forward_y = gate.forward
    at = (x, y, z + 0.5 * gate.outer_size_m[1] + 0.15)
    return arrow(at, (0.8 * forward_x, 0.8 * forward_y, 0.0), color, 0.05)


def box(bounds: Bounds) -> LinePrimitive:
    """The edges of a box."""
    (x0, y0, z0), (x1, y1, z1) = bounds.min_m, bounds.max_m
    points: list[Point] = []
    for a in ((y0, z0), (y0, z1), (y1, z0), (y1, z1)):
        points += [(x0, *a), (x1, *a)]
    for b in ((x0, z0), (x0, z1), (x1, z0), (x1, z1)):
        points += [(b[0], y0, b[1]), (b[0], y1, b[1])]
    for c in ((x0, y0), (x0, y1), (x1, y0), (x1, y1)):
        points += [(*c, z0), (*c, z1)]
    return line(points, FENCE, 1.5, LinePrimitiveLineType.LineList)


def axes(length: float, width: float) -> list[ArrowPrimitive]:
    """Axes x red, y green, z blue."""
    zero = (0.0, 0.0, 0.0)
    return [
        arrow(zero, (length, 0.0, 0.0), RED, width),
        arrow(zero, (0.0, length, 0.0), GREEN, width),
        arrow(zero, (0.0, 0.0, length), BLUE, width),
    ]


def entity(name: str, frame: str, **primitives: object) -> SceneEntity:
    """Part of the scene that stays until it is replaced and moves with its frame."""
    return SceneEntity(id=name, frame_id=frame, frame_locked=True, **primitives)  # type: ignore[arg-type]


def airframe(vehicle: Vehicle) -> SceneEntity:
    """The vehicle in its own frame: arms, rotor discs with number and spin sense, body axes."""
    hubs = vehicle.rotor.positions_m
    apart = [[a - b for a, b in zip(hubs[0], other, strict=True)] for other in hubs[1:]]
    radius = 0.4 * min(math.sqrt(x * x + y * y + z * z) for x, y, z in apart)
    arms, discs, arrows, words, rims = [], [], axes(0.25, 0.008), [], []
    for number, ((x, y, z), spin) in enumerate(zip(hubs, vehicle.rotor.spins, strict=True)):
        arms += [(0.0, 0.0, 0.0), (x, y, z)]
        disc = Pose(position=Vector3(x=x, y=y, z=z + 0.015), orientation=NO_TURN)
        size = Vector3(x=2.0 * radius, y=2.0 * radius, z=0.004)
        discs.append(CylinderPrimitive(pose=disc, size=size, bottom_scale=1, top_scale=1, color=DISC[spin]))
        angles = [spin * math.radians(step) for step in range(0, 280, 20)]
        rim = [(x + radius * plain_cos(a), y + radius * plain_sin(a), z + 0.02) for a in angles]
        rims.append(line(rim, RIM[spin], 0.004))
        ahead = angles[-1] + spin * 0.5 * math.pi
        arrows.append(arrow(rim[-1], (0.03 * plain_cos(ahead), 0.03 * plain_sin(ahead), 0.0), RIM[spin], 0.006))
        words.append(text((1.9 * x, 1.9 * y, z + 0.02), str(number), 0.05))  # clear of the forces
    body = CubePrimitive(
        pose=Pose(position=Vector3(x=0, y=0, z=0), orientation=NO_TURN),
        size=Vector3(x=0.09, y=0.05, z=0.03),
        color=DARK,
    )
    lines = [line(arms, GREY, 0.01, LinePrimitiveLineType.LineList), *rims]
    return entity("airframe", DRONE, cubes=[body], cylinders=discs, lines=lines, arrows=arrows, texts=words)


def ray(lens: camera.Params, u: float, v: float) -> Point:
    """Unit vector in the optical frame that lands at pixel (u, v): Newton's method on the lens polynomial."""
    x, y = (u - lens.cx) / lens.fx, (v - lens.cy) / lens.fy
    bent = math.sqrt(x * x + y * y)
    if bent == 0.0:
        return (0.0, 0.0, 1.0)
    theta = bent
    for _ in range(20):
        t2 = theta * theta
        value = theta * (1.0 + t2 * (lens.k1 + t2 * (lens.k2 + t2 * (lens.k3 + t2 * lens.k4))))
        slope = 1.0 + t2 * (3.0 * lens.k1 + t2 * (5.0 * lens.k2 + t2 * (7.0 * lens.k3 + t2 * 9.0 * lens.k4)))
        theta -= (value - bent) / slope
    return (plain_sin(theta) * x / bent, plain_sin(theta) * y / bent, plain_cos(theta))


def frustum(lens: camera.Params) -> SceneEntity:
    """The camera's field of view in its optical frame: the image's border as directions, and its corners' rays."""
    w, h = lens.width, lens.height
    corners = [(0.0, 0.0), (w, 0.0), (w, h), (0.0, h)]
    border: list[Point] = []
    for (u0, v0), (u1, v1) in zip(corners, corners[1:] + corners[:1], strict=True):
        for step in range(8):
            f = step / 8.0
            x, y, z = ray(lens, u0 + f * (u1 - u0), v0 + f * (v1 - v0))
            border.append((FRUSTUM_LENGTH * x, FRUSTUM_LENGTH * y, FRUSTUM_LENGTH * z))
    edges = [point for corner in border[::8] for point in ((0.0, 0.0, 0.0), corner)]
    lines = [
        line(border, WHITE, 1, LinePrimitiveLineType.LineLoop),
        line(edges, WHITE, 1, LinePrimitiveLineType.LineList),
    ]
    return entity("camera", CAMERA, lines=lines)


def legend(start: Point) -> SceneEntity:
    """What the frames, colours and lengths mean, beside the start, and the axes of the world at its origin."""
    at = (start[0] - 0.5, start[1], start[2] + 1.2)
    words = (
        "world: z up, axes x red, y green, z blue\n"
        "body: x forward, y left, z up\n"
        "rotors PX4 Quad X: 0 front right, 1 rear left CCW (blue)\n"
        "    2 front left, 3 rear right CW (orange)\n"
        f"forces at {FORCE_SCALE:g} m per N: thrust green, drag red, weight white\n"
        "airframe and course at 1:1"
    )
    return entity("legend", WORLD, texts=[text(at, words, 0.08)], arrows=axes(1.0, 0.04))


def blank_png(width: int, height: int) -> bytes:
    """A black image as PNG of one bit per pixel, whose bytes depend on no library.

    Sources: PNG (ISO/IEC 15948) and DEFLATE (RFC 1951): one block of fixed Huffman codes that repeats a zero byte.
    """
    size = height * (1 + (width + 7) // 8)  # rows with their filter byte
    repeats, rest = divmod(size - 1, 258)
    zero, repeat = "00110000", "11000101" + "00000"  # literal 0; length 258 at distance 1
    bits = "1" + "10" + zero + repeat * repeats + zero * rest + "0000000"  # last block, fixed codes, ..., its end
    bits += "0" * (-len(bits) % 8)
    deflated = bytes(int(bits[i : i + 8][::-1], 2) for i in range(0, len(bits), 8))
    adler = (size % 65521) << 16 | 1
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)),
        (b"IDAT", b"\x78\x01" + deflated + struct.pack(">I", adler)),
        (b"IEND", b""),
    )
    chunks = (struct.pack(">I", len(d)) + k + d + struct.pack(">I", zlib.crc32(k + d)) for k, d in parts)
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)
