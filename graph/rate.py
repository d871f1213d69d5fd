"""How fast simulated time may go against the wall clock: the one reader of rates, whoever gives them."""

from __future__ import annotations

import math
from typing import Any

from graph.errors import InputError

SLOWEST, FASTEST = 1e-3, 1e6
"""Simulated seconds per second: slower than this a wait is longer than a timer takes, faster is as good as max."""
MAX = "max"


def read_rate(value: Any, where: str) -> float:
    """Simulated seconds per second, infinite for max, from a number or from its text on the command line.

    Raises InputError, which begins with ``where``, for anything else and for what is out of bounds.
    """
    if value == MAX:
        return math.inf
    try:
        rate = math.nan if isinstance(value, bool) or not isinstance(value, int | float | str) else float(value)
    except (ValueError, OverflowError):
        rate = math.nan
    if not SLOWEST <= rate <= FASTEST:
        raise InputError(
            f"{where} {_shown(value)}: must be max, or {SLOWEST:g} to {FASTEST:.0f} simulated seconds per second"
        )
    return rate


def written(rate: float) -> float | str:
    """A rate as ``read_rate`` reads it."""
    return MAX if math.isinf(rate) else rate


def _shown(value: Any) -> str:
    try:
        text = str(value)
    except ValueError:
        return "with thousands of digits"
    return text if len(text) <= 60 else f"{text[:57]}..."
