"""PID controller with the derivative on the measurement and conditional integration.

    u  = kp e + I - kd y'                                    e = setpoint - y, in output units
    y' <- (tau y' + y[k] - y[k-1]) / (tau + dt)              first-order filtered rate of the measurement
    I  <- clamp(I + ki e dt, +-integral_limit)               in output units; frozen while u is past a limit and the
                                                             error pushes it further
    output = clamp(u, low, high)

dt <= 0 returns the last output and changes nothing. Otherwise dt is at least a nanosecond: divided by the smallest
floats, any change is an infinite rate. Source: K. J. Åström, R. M. Murray, "Feedback Systems", 2nd edition,
sections 11.3 to 11.5.
"""

import math
from typing import NamedTuple

from blocks.kernel import inlined
from blocks.math import clamp


class Params(NamedTuple):
    """Gains in output units per unit of the measurement (and second), times in s, limits in output units."""

    kp: float
    ki: float
    kd: float
    derivative_time: float  # tau, s
    integral_limit: float
    low: float
    high: float


class State(NamedTuple):
    """What one step leaves for the next."""

    integral: float  # output units
    measurement: float  # the last one
    rate: float  # filtered, measurement units per s
    output: float  # the last one
    started: bool  # whether there is a last measurement


@inlined
def initial(p: Params) -> State:
    """The constructed state, and the state after a reset: nothing integrated, zero output within the limits."""
    zero = p.kp * 0.0
    return State(zero, zero, zero, clamp(zero, p.low, p.high), False)


@inlined
def integrated(integral: float, step: float, limit: float, saturation: int) -> float:
    """integral + step within [-limit, limit]; unchanged if step pushes past saturation (+1 high, -1 low, 0 none)."""
    if (saturation > 0 and step > 0.0) or (saturation < 0 and step < 0.0):
        return integral
    return clamp(integral + step, -limit, limit)


@inlined
def step(p: Params, s: State, setpoint: float, measurement: float, dt: float) -> tuple[State, float]:
    """The state after dt seconds, and the output, within [low, high]."""
    if not dt > 0.0:
        return s, s.output
    change = measurement - s.measurement if s.started else measurement * 0.0
    rate = (p.derivative_time * s.rate + change) / (p.derivative_time + dt)
    error = setpoint - measurement
    push = p.ki * error * dt
    before = p.kp * error - p.kd * rate
    unlimited = before + clamp(s.integral + push, -p.integral_limit, p.integral_limit)
    saturation = 1 if unlimited > p.high else (-1 if unlimited < p.low else 0)
    integral = integrated(s.integral, push, p.integral_limit, saturation)
    output = clamp(before + integral, p.low, p.high)
    return State(integral, measurement, rate, output, True), output


def valid(p: Params) -> bool:
    """Gains, time and integral limit finite and not negative; low <= high (either may be infinite)."""
    return all(math.isfinite(x) and x >= 0.0 for x in p[:5]) and p.low <= p.high
