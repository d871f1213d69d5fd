"""SplitMix64: published values, the distribution's bounds and moments, and streams that stay what they are."""

import math
from typing import Any

import numpy as np

from blocks.kernel import kernel
from blocks.splitmix64 import next_uint64, stream, uniform, uniform_symmetric, uniform_symmetric3, word


def unsigned(x: int) -> Any:
    """x as numba's uint64: a call from Python types a plain integer as int64."""
    return np.uint64(x)


@kernel
def draws(state: int, sigma: float, out: np.ndarray) -> int:
    state = word(state)
    for k in range(out.shape[0]):
        state, out[k] = uniform_symmetric(state, sigma)
    return state


def test_published_sequence() -> None:
    # Seed 1234567, as listed for splitmix64.c.
    state = 1234567
    found = []
    for _ in range(5):
        state, value = next_uint64(unsigned(state))
        found.append(int(value))
    assert found == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


def test_uniform_uses_the_top_53_bits() -> None:
    _, bits = next_uint64(99)
    _, value = uniform(99)
    assert value == (int(bits) >> 11) * 2.0**-53


def test_symmetric_noise_has_the_wanted_moments_and_bounds() -> None:
    n = 200_000
    x = np.zeros(n)
    draws(stream(1, "imu", "gyro"), 0.5, x)
    assert np.abs(x).max() <= math.sqrt(3.0) * 0.5
    assert np.abs(x).max() > 0.999 * math.sqrt(3.0) * 0.5
    # Five standard errors: sigma / sqrt n of the mean; sqrt((kurtosis - 1) / n) sigma^2 of the variance, kurtosis 1.8.
    assert abs(x.mean()) < 5.0 * 0.5 / math.sqrt(n)
    assert abs(x.var() - 0.25) < 5.0 * math.sqrt(0.8 / n) * 0.25


def test_a_word_gives_the_same_draw_however_its_integer_is_typed() -> None:
    for seed in range(50):
        state = stream(seed, "imu", "gyro") >> 1
        assert uniform(state) == uniform(unsigned(state))
        assert next_uint64(state) == next_uint64(unsigned(state))
        assert next_uint64(state)[1] >= 0


def test_three_draws_are_the_next_three() -> None:
    state = 5
    after, v = uniform_symmetric3(state, 1.0)
    one_by_one = []
    for _ in range(3):
        state, x = uniform_symmetric(unsigned(state), 1.0)
        one_by_one.append(x)
    assert list(v) == one_by_one
    assert after == state


def test_streams_are_fixed_and_distinct() -> None:
    # A change of these values would change every recorded flight.
    assert stream(0, "imu", "gyro") == 6047413630647982776
    keys = [(seed, node, purpose) for seed in range(3) for node in ("imu", "camera") for purpose in ("gyro", "bias")]
    assert len({stream(*key) for key in keys}) == len(keys)
    assert stream(1, "ab", "c") != stream(1, "a", "bc")
    assert all(0 <= stream(*key) < 2**64 for key in keys)
