"""The PID law: limits always hold, dt <= 0 holds everything, the setpoint never kicks, the integral never winds up."""

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blocks.pid import Params, State, initial, integrated, step, valid

P = Params(kp=2.0, ki=1.0, kd=0.5, derivative_time=0.01, integral_limit=3.0, low=-10.0, high=10.0)
DT = 0.01

value = st.floats(-1e3, 1e3)
gain = st.floats(0.0, 100.0)
params = st.builds(
    Params, gain, gain, gain, st.floats(0.0, 1.0), st.floats(0.0, 100.0), st.floats(-50.0, 0.0), st.floats(0.0, 50.0)
)
# No time, or at least a nanosecond of it.
time = st.floats(-0.01, 0.0) | st.floats(1e-9, 0.1)
inputs = st.lists(st.tuples(value, value, time), min_size=1, max_size=20)

fast = settings(max_examples=100, deadline=None)


def run(p: Params, samples: list[tuple[float, float, float]]) -> tuple[State, list[float]]:
    s, outputs = initial(p), []
    for setpoint, measurement, dt in samples:
        s, u = step(p, s, setpoint, measurement, dt)
        outputs.append(u)
    return s, outputs


@given(p=params, samples=inputs)
@fast
def test_output_and_integral_stay_within_their_limits(p: Params, samples: list[tuple[float, float, float]]) -> None:
    state, outputs = run(p, samples)
    assert all(p.low <= u <= p.high for u in outputs)
    assert abs(state.integral) <= p.integral_limit
    assert state.output == outputs[-1]


@given(samples=inputs, dt=st.floats(-1.0, 0.0) | st.just(math.nan), setpoint=value, measurement=value)
@fast
def test_without_time_nothing_changes(
    samples: list[tuple[float, float, float]], dt: float, setpoint: float, measurement: float
) -> None:
    state, outputs = run(P, samples)
    after, output = step(P, state, setpoint, measurement, dt)
    assert after == state
    assert output == outputs[-1]


@given(measurement=value, first=value, second=value)
@fast
def test_a_setpoint_step_does_not_reach_the_derivative(measurement: float, first: float, second: float) -> None:
    s, _ = step(P, initial(P), first, measurement, DT)
    s, _ = step(P, s, second, measurement, DT)
    assert s.rate == 0.0


def test_derivative_is_the_filtered_rate_of_the_measurement() -> None:
    p = P._replace(kp=0.0, ki=0.0, low=-100.0, high=100.0)
    s = initial(p)
    for k in range(200):
        s, u = step(p, s, 0.0, 3.0 * k * DT, DT)
    assert s.rate == pytest.approx(3.0, rel=1e-12)
    assert u == pytest.approx(-1.5, rel=1e-12)
    # One step of the filter: tau / (tau + dt) of the old rate.
    after, _ = step(p, s, 0.0, s.measurement, DT)
    assert after.rate == pytest.approx(3.0 * 0.01 / (0.01 + DT), rel=1e-12)


def test_first_sample_gives_no_derivative() -> None:
    s, u = step(P._replace(ki=0.0), initial(P), 5.0, 4.0, DT)
    assert s.rate == 0.0
    assert u == 2.0


def test_integral_is_in_output_units() -> None:
    s = initial(P)
    for _ in range(100):
        s, _ = step(P, s, 1.0, 0.0, DT)
    assert s.integral == pytest.approx(1.0, rel=1e-12)
    # A changed gain does not jump what has been integrated.
    after, _ = step(P._replace(ki=50.0), s, 0.0, 0.0, DT)
    assert after.integral == s.integral


def test_integral_is_frozen_while_saturated_and_recovers_at_once() -> None:
    s = initial(P)
    for _ in range(1000):
        s, u = step(P, s, 100.0, 0.0, DT)
        assert u == P.high
    assert s.integral == 0.0
    # The error reverses: the integral may run down although the output is still at its limit the other way.
    s, u = step(P, s._replace(integral=2.0), -100.0, 0.0, DT)
    assert u == P.low
    assert s.integral == 2.0
    s, _ = step(P, s, -0.5, 0.0, DT)
    assert s.integral < 2.0


def test_initial_state_is_a_reset() -> None:
    assert initial(P) == State(0.0, 0.0, 0.0, 0.0, False)
    assert initial(P._replace(low=1.0, high=2.0)).output == 1.0


@pytest.mark.parametrize(
    ("push", "saturation", "after"),
    [(0.5, 0, 1.5), (0.5, 1, 1.0), (-0.5, 1, 0.5), (-0.5, -1, 1.0), (0.5, -1, 1.5), (9.0, 0, 3.0), (-9.0, 0, -3.0)],
)
def test_conditional_integration(push: float, saturation: int, after: float) -> None:
    assert integrated(1.0, push, 3.0, saturation) == after


@pytest.mark.parametrize(
    "changed",
    [{"kp": -1.0}, {"ki": math.nan}, {"kd": math.inf}, {"derivative_time": -0.1}, {"low": 11.0}, {"high": math.nan}],
)
def test_validity(changed: dict[str, Any]) -> None:
    assert valid(P)
    assert valid(P._replace(low=-math.inf, high=math.inf))
    assert not valid(P._replace(**changed))
