"""Vectors and quaternions: the identities that fix their conventions."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blocks.math import (
    Quat,
    Vec3,
    add,
    body_z,
    conjugate,
    cross,
    dot,
    from_yaw,
    multiply,
    norm,
    normalize,
    rotate,
    rotate_inverse,
    sandwich,
    scale,
    sub,
    yaw_of,
)

number = st.floats(-100.0, 100.0)
vectors = st.builds(Vec3, number, number, number)
part = st.floats(-1.0, 1.0)
quats = st.builds(Quat, part, part, part, part).filter(lambda q: sum(x * x for x in q) > 0.01)

fast = settings(max_examples=60, deadline=None)


def test_vector_arithmetic() -> None:
    a, b = Vec3(1.0, 2.0, 3.0), Vec3(4.0, -5.0, 6.0)
    assert add(a, b) == Vec3(5.0, -3.0, 9.0)
    assert sub(a, b) == Vec3(-3.0, 7.0, -3.0)
    assert scale(a, 2.0) == Vec3(2.0, 4.0, 6.0)
    assert dot(a, b) == 12.0
    assert cross(a, b) == Vec3(27.0, 6.0, -13.0)
    assert norm(Vec3(2.0, -3.0, 6.0)) == 7.0


def test_quaternion_units_multiply_as_hamilton_wrote() -> None:
    i, j, k = Quat(0.0, 1.0, 0.0, 0.0), Quat(0.0, 0.0, 1.0, 0.0), Quat(0.0, 0.0, 0.0, 1.0)
    assert multiply(i, j) == k
    assert multiply(j, k) == i
    assert multiply(k, i) == j
    assert multiply(i, i) == Quat(-1.0, 0.0, 0.0, 0.0)


def test_yaw_turns_forward_towards_left() -> None:
    turned = rotate(from_yaw(math.pi / 2.0), Vec3(1.0, 0.0, 0.0))
    np.testing.assert_allclose(turned, (0.0, 1.0, 0.0), atol=1e-15)


@pytest.mark.parametrize("yaw", [-3.0, -0.5, 0.0, 1.2, 3.1])
def test_yaw_of_inverts_from_yaw(yaw: float) -> None:
    assert yaw_of(from_yaw(yaw)) == pytest.approx(yaw, abs=1e-15)


@given(q=quats, v=vectors)
@fast
def test_rotation_agrees_with_the_sandwich_and_has_an_inverse(q: Quat, v: Vec3) -> None:
    unit = normalize(q)
    assert norm(Vec3(*unit[1:])) ** 2 + unit.w**2 == pytest.approx(1.0, abs=1e-15)
    turned = rotate(unit, v)
    product = multiply(multiply(unit, Quat(0.0, *v)), conjugate(unit))
    np.testing.assert_allclose(turned, product[1:], atol=1e-12)
    np.testing.assert_allclose(turned, sandwich(unit, v), atol=1e-12)
    np.testing.assert_allclose(rotate_inverse(unit, turned), v, atol=1e-12)
    np.testing.assert_allclose(body_z(unit), rotate(unit, Vec3(0.0, 0.0, 1.0)), atol=1e-15)


@given(q=quats, v=vectors)
@fast
def test_sandwich_scales_with_the_squared_length(q: Quat, v: Vec3) -> None:
    doubled = sandwich(Quat(*(2.0 * x for x in q)), v)
    np.testing.assert_allclose(doubled, scale(sandwich(q, v), 4.0), rtol=1e-15, atol=1e-300)


@given(a=quats, b=quats, v=vectors)
@fast
def test_product_rotates_first_by_the_right_factor(a: Quat, b: Quat, v: Vec3) -> None:
    a, b = normalize(a), normalize(b)
    np.testing.assert_allclose(rotate(multiply(a, b), v), rotate(a, rotate(b, v)), atol=1e-12)
