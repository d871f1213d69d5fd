"""The clock keeps its rate: what is a little late is caught up, what is far behind is not."""

import pytest

from nodes.clock import FORGIVEN_S, PacedClock

MS = 1_000_000


class Wall:
    """A wall clock that goes on when told."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def flown(clock: PacedClock, wall: Wall, windows: int, late_s: float) -> float:
    """Wall time that windows of 10 ticks take when each wait lasts ``late_s`` longer than asked; the clock is asked
    again after it.
    """
    begun = wall.now
    for window in range(windows):
        while (ahead := clock.ahead(window * 10)) > 0.0:
            wall.now += ahead + late_s
    return wall.now - begun


def test_waits_that_last_too_long_do_not_slow_the_run() -> None:
    wall = Wall()
    took = flown(PacedClock(10, MS, 1.0, wall), wall, 1001, 0.0003)
    assert took == pytest.approx(10.0, abs=0.001)


def test_a_run_far_behind_catches_up_only_what_is_not_forgiven() -> None:
    wall = Wall()
    clock = PacedClock(10, MS, 1.0, wall)
    assert clock.ahead(0) == 0.0
    wall.now += 5.0
    assert clock.ahead(10) == pytest.approx(-4.99)
    assert clock.ahead(10) == pytest.approx(-FORGIVEN_S)
    assert clock.ahead(210) == pytest.approx(0.2 - FORGIVEN_S)


def test_a_rate_begins_anew() -> None:
    wall = Wall()
    clock = PacedClock(10, MS, 1.0, wall)
    clock.ahead(0)
    wall.now += 0.05
    clock.set_rate(0.5)
    assert clock.ahead(10) == 0.0
    assert clock.ahead(20) == pytest.approx(0.02)
