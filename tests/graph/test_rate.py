"""A rate is max or a number that every timer can keep, whoever gives it and however."""

import math

import pytest

from graph.errors import InputError
from graph.rate import read_rate


@pytest.mark.parametrize(("given", "rate"), [("max", math.inf), ("0.5", 0.5), (2, 2.0), (1e-3, 1e-3), ("1e6", 1e6)])
def test_rates(given, rate):
    assert read_rate(given, "--rate") == rate


@pytest.mark.parametrize(
    "given",
    [
        1e-300,
        "1e-300",
        9e-4,
        1.1e6,
        0,
        -1.0,
        math.inf,
        "inf",
        math.nan,
        "nan",
        10**400,
        10**5000,
        True,
        None,
        b"1",
        [1],
        "",
    ],
    ids=lambda given: type(given).__name__,
)
def test_what_is_no_rate_is_refused(given):
    with pytest.raises(InputError, match=r"^--rate .*: must be max, or 0.001 to 1000000 simulated seconds per second$"):
        read_rate(given, "--rate")
