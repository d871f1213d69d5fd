"""The Butterworth low-pass: its coefficients, its frequency response, and the filter doing what the response says."""

import cmath
import math

import numpy as np
import pytest

from blocks.biquad import Params, State, butterworth_low_pass, step, valid
from blocks.kernel import kernel

FC, FS = 30.0, 1000.0
P = butterworth_low_pass(FC, FS)


def response(p: Params, hz: float, rate: float) -> complex:
    z = cmath.exp(-2j * math.pi * hz / rate)
    return (p.b0 + p.b1 * z + p.b2 * z * z) / (1.0 + p.a1 * z + p.a2 * z * z)


@kernel
def filtered(p: Params, s: State, u: np.ndarray, y: np.ndarray) -> State:
    for k in range(u.shape[0]):
        s, y[k] = step(p, s, u[k])
    return s


def test_coefficients() -> None:
    assert P.b0 == pytest.approx(0.00782, abs=5e-6)
    assert P.b1 == 2.0 * P.b0
    assert P.b2 == P.b0
    assert P.a1 == pytest.approx(-1.7347, abs=5e-5)
    assert P.a2 == pytest.approx(0.7660, abs=5e-5)


def test_frequency_response() -> None:
    assert abs(response(P, 0.0, FS)) == pytest.approx(1.0, abs=1e-12)
    assert abs(response(P, 2.0, FS)) == pytest.approx(0.99999, abs=5e-6)
    assert 20.0 * math.log10(abs(response(P, FC, FS))) == pytest.approx(20.0 * math.log10(math.sqrt(0.5)), abs=1e-9)
    assert 20.0 * math.log10(abs(response(P, 180.0, FS))) == pytest.approx(-33.1, abs=0.05)
    delay = -cmath.phase(response(P, 2.0, FS)) / (2.0 * math.pi * 2.0)
    assert delay == pytest.approx(7.49e-3, abs=5e-6)


@pytest.mark.parametrize("hz", [2.0, 30.0, 180.0])
def test_a_sine_comes_out_as_the_response_says(hz: float) -> None:
    t = np.arange(3000) / FS
    y = np.zeros_like(t)
    filtered(P, State(0.0, 0.0), np.sin(2.0 * math.pi * hz * t), y)
    h = response(P, hz, FS)
    expected = abs(h) * np.sin(2.0 * math.pi * hz * t + cmath.phase(h))
    np.testing.assert_allclose(y[1000:], expected[1000:], atol=1e-12)


def test_a_constant_settles_at_itself() -> None:
    y = np.zeros(2000)
    filtered(P, State(0.0, 0.0), np.full(2000, 3.5), y)
    assert y[-1] == pytest.approx(3.5, rel=1e-13)


@pytest.mark.parametrize("cutoff", [0.0, -1.0, 500.0, 600.0, math.nan])
def test_corner_must_lie_below_half_the_rate(cutoff: float) -> None:
    with pytest.raises(ValueError) as caught:
        butterworth_low_pass(cutoff, FS)
    assert str(caught.value) == f"cutoff_hz is {cutoff}, must lie between 0 and half of rate_hz (1000.0)"


def test_validity_is_stability() -> None:
    assert all(valid(butterworth_low_pass(fc, FS)) for fc in (0.5, 30.0, 80.0, 499.0))
    assert not valid(P._replace(a2=1.0))
    assert not valid(P._replace(a1=-1.8))
    assert not valid(P._replace(b0=math.nan))
