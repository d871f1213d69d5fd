"""Rare messages all come; frequent ones come evenly, as many as the rate allows in simulated and in wall time."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nodes.view.thinning import RARE_HZ, SAVED_S, Thinning

MS = 1_000_000
SECOND = 1000  # ticks


class Wall:
    """Wall time that a test moves."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def chosen(ticks: list[int], hz: float, cuts: list[int], factor: float) -> list[int]:
    """Ticks of the messages sent when they are taken in pieces cut at ``cuts``, ``factor`` times as fast as real."""
    wall = Wall()
    thinned = Thinning(hz, MS, wall)
    sent: list[int] = []
    edges = [0, *sorted(cut for cut in cuts if cut < len(ticks)), len(ticks)]
    for begin, end in pairwise(edges):
        piece = ticks[begin:end]
        if piece:
            wall.now = piece[-1] / SECOND / factor
        sent += [piece[index] for index in thinned.chosen(np.array(piece, np.int64))]
    assert thinned.left_out == len(ticks) - len(sent)
    return sent


@given(
    gaps=st.lists(st.integers(SECOND // RARE_HZ, 10 * SECOND), min_size=1, max_size=50),
    cuts=st.lists(st.integers(0, 50)),
    factor=st.sampled_from([0.1, 1.0, 1000.0]),
)
def test_rare_messages_all_come(gaps: list[int], cuts: list[int], factor: float) -> None:
    ticks = np.cumsum(gaps).tolist()
    assert chosen(ticks, 50.0, cuts, factor) == ticks


def test_a_burst_of_events_comes_whole() -> None:
    assert chosen([7000] * RARE_HZ, 50.0, [], 1000.0) == [7000] * RARE_HZ


@given(hz=st.sampled_from([5.0, 20.0, 50.0]), cuts=st.lists(st.integers(0, 5000)))
def test_frequent_ones_come_at_the_rate_and_a_little_more(hz: float, cuts: list[int]) -> None:
    sent = chosen(list(range(5000)), hz, cuts, 0.1)
    assert sent == sorted(set(sent))
    assert 5 * hz <= len(sent) <= 5 * (hz + RARE_HZ) + RARE_HZ
    assert max(after - before for before, after in pairwise(sent)) <= SECOND / hz * 2


@given(cuts=st.lists(st.integers(0, 5000)))
def test_when_time_flies_they_come_at_the_rate_in_wall_time(cuts: list[int]) -> None:
    hz, wall_s = 50.0, 5.0 / 20.0
    sent = chosen(list(range(5000)), hz, cuts, 20.0)
    assert len(sent) <= hz * (wall_s + SAVED_S) + 5 * RARE_HZ + RARE_HZ


def test_nothing_is_left_out_without_a_rate() -> None:
    assert chosen(list(range(5000)), 0.0, [100], 1000.0) == list(range(5000))
