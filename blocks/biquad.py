"""Second-order section in transposed direct form II, and the Butterworth low-pass.

    y = b0 u + x1;  x1 <- b1 u - a1 y + x2;  x2 <- b2 u - a2 y
    H(z) = (b0 + b1 z^-1 + b2 z^-2) / (1 + a1 z^-1 + a2 z^-2)

Butterworth by the bilinear transform, prewarped so that the corner lands where asked: K = tan(pi fc / fs),
b0 = K^2 / (1 + sqrt 2 K + K^2). Source: A. V. Oppenheim, R. W. Schafer, "Discrete-Time Signal Processing", 3rd edition,
sections 6.3 and 7.2.
"""

import math
from typing import NamedTuple

from blocks.kernel import inlined
from blocks.trigonometry import plain_tan


class Params(NamedTuple):
    """Coefficients, normalised to a0 = 1."""

    b0: float
    b1: float
    b2: float
    a1: float
    a2: float


class State(NamedTuple):
    """The two delay registers, in the signal's unit; zero at rest."""

    x1: float
    x2: float


@inlined
def step(p: Params, s: State, u: float) -> tuple[State, float]:
    """The state after one sample u, and the filtered sample."""
    y = p.b0 * u + s.x1
    return State(p.b1 * u - p.a1 * y + s.x2, p.b2 * u - p.a2 * y), y


def butterworth_low_pass(cutoff_hz: float, rate_hz: float) -> Params:
    """Second-order Butterworth low-pass, -3 dB at cutoff_hz, for samples at rate_hz.

    Raises ValueError unless 0 < cutoff_hz < rate_hz / 2.
    """
    if not (math.isfinite(rate_hz) and 0.0 < cutoff_hz < 0.5 * rate_hz):
        raise ValueError(f"cutoff_hz is {cutoff_hz}, must lie between 0 and half of rate_hz ({rate_hz})")
    k = plain_tan(math.pi * cutoff_hz / rate_hz)
    scale = 1.0 / (1.0 + math.sqrt(2.0) * k + k * k)
    b0 = k * k * scale
    return Params(b0, 2.0 * b0, b0, 2.0 * (k * k - 1.0) * scale, (1.0 - math.sqrt(2.0) * k + k * k) * scale)


def valid(p: Params) -> bool:
    """Finite, and stable: both poles inside the unit circle (the stability triangle of a1, a2)."""
    return all(math.isfinite(x) for x in p) and abs(p.a2) < 1.0 and abs(p.a1) < 1.0 + p.a2
