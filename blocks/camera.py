"""Equidistant (Kannala-Brandt) camera on a vehicle: a world point as a pixel.

    p_c = R(q q_cam)^T (p_w - (p + R(q) t_cam)),  theta = atan2(r, z),  r = |(x, y)|
    theta_d = theta (1 + k1 theta^2 + k2 theta^4 + k3 theta^6 + k4 theta^8)
    (u, v) = (fx theta_d x / r + cx, fy theta_d y / r + cy)

Optical frame: z along the view, x right, y down. Pixels: u right, v down, the image is [0, width) x [0, height).
Source: J. Kannala, S. Brandt, "A generic camera model and calibration method for conventional, wide-angle, and
fish-eye lenses", IEEE TPAMI 28(8), 2006, in OpenCV's fisheye parametrisation.
"""

import math
from typing import NamedTuple

from blocks.kernel import inlined
from blocks.math import Quat, Vec3, add, multiply, rotate, rotate_inverse, sub
from blocks.plain import plain
from blocks.trigonometry import atan2, plain_cos, plain_sin

_multiply = plain(multiply)


class Params(NamedTuple):
    """Intrinsics in pixels, and where the camera sits on the body."""

    width: float  # px
    height: float  # px
    fx: float  # px
    fy: float  # px
    cx: float  # px
    cy: float  # px
    k1: float
    k2: float
    k3: float
    k4: float
    position: Vec3  # of the optical centre, body axes, m
    attitude: Quat  # optical frame to body


class View(NamedTuple):
    """Pose of the optical frame in the world."""

    position: Vec3  # m
    attitude: Quat  # optical frame to world


class Projection(NamedTuple):
    """Where a point lands, and whether it is seen."""

    u: float  # px
    v: float  # px
    depth: float  # along the optical axis, m
    in_front: bool  # depth > 0
    inside: bool  # in front and within the image


@inlined
def view_of(p: Params, position: Vec3, attitude: Quat) -> View:
    """Where the camera is on a vehicle at position (m, world) with attitude (body to world)."""
    return View(add(position, rotate(attitude, p.position)), multiply(attitude, p.attitude))


@inlined
def to_camera(view: View, point: Vec3) -> Vec3:
    """A world point (m) in the optical frame, m."""
    return rotate_inverse(view.attitude, sub(point, view.position))


@inlined
def project(p: Params, view: View, point: Vec3) -> Projection:
    """The pixel of a world point (m)."""
    c = to_camera(view, point)
    r = math.sqrt(c.x * c.x + c.y * c.y)
    theta = atan2(r, c.z)
    t2 = theta * theta
    bent = theta * (1.0 + t2 * (p.k1 + t2 * (p.k2 + t2 * (p.k3 + t2 * p.k4))))
    k = bent / r if r > 0.0 else r
    u = p.fx * (k * c.x) + p.cx
    v = p.fy * (k * c.y) + p.cy
    in_front = c.z > 0.0
    inside = in_front and u >= 0.0 and u < p.width and v >= 0.0 and v < p.height
    return Projection(u, v, c.z, in_front, inside)


def mount(tilt_up: float) -> Quat:
    """Optical frame to body of a camera that looks forward, tilted up by tilt_up (rad)."""
    half = -0.5 * tilt_up
    product: Quat = _multiply(Quat(plain_cos(half), 0.0, plain_sin(half), 0.0), Quat(0.5, -0.5, 0.5, -0.5))
    return product


def valid(p: Params) -> bool:
    """Every number finite; image size and focal lengths above 0; unit mounting attitude."""
    q = p.attitude
    return (
        all(math.isfinite(x) for x in (*p[:10], *p.position, *q))
        and all(x > 0.0 for x in p[:4])
        and abs(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z - 1.0) <= 1e-9
    )
