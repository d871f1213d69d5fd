"""Kill any process at any moment: no orphan, no hang, and the bag holds every window that was final."""

import os
import random
import signal
import time

import pytest
from mcap.reader import make_reader

from graph.bag import Bag, recover
from tests.process.session import NAMES, Flight, tick_named, until_gone

WINDOW = 10  # ticks
IN_FLIGHT = 6  # windows between what is stepped and what is final


@pytest.mark.parametrize("number", range(2))
def test_a_kill_at_a_random_moment(number, tmp_path):
    kill_at_a_random_moment(number, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(2, 102))
def test_a_hundred_kills_at_random_moments(number, tmp_path):
    assert kill_at_a_random_moment(number, tmp_path) < 2.0  # s


def kill_at_a_random_moment(number, tmp_path):
    """Kill one; returns how long the run took to end, s."""
    draw = random.Random(number)
    victim, size = draw.choice(NAMES), draw.randrange(20_000, 800_000)
    bag = tmp_path / "run.mcap"
    flight = Flight("sitl", "--record", str(bag), "--rate", "4")
    pids = flight.wait_until_recording(bag, size)
    begun = time.monotonic()
    os.kill(pids[victim], signal.SIGKILL)
    code, _, err = flight.end(timeout=20)
    took = time.monotonic() - begun
    assert code == 3, err
    assert f"node {victim} was killed by SIGKILL" in err
    recovered = recover(bag, tmp_path / "recovered.mcap")
    counts = Bag.open(tmp_path / "recovered.mcap").counts
    assert counts == recovered.counts
    assert counts["truth"] >= tick_named(err) - IN_FLIGHT * WINDOW
    with bag.open("rb") as file:
        assert sum(1 for _ in make_reader(file).iter_messages(["truth"])) == counts["truth"]
    return took


@pytest.mark.parametrize("forked", [0, 1, 5, 9])
def test_a_launcher_killed_while_it_starts_leaves_nothing(forked, tmp_path):
    flight = Flight("sitl", "--record", str(tmp_path / "run.mcap"), "--rate", "2")
    while len(flight.children()) < forked:
        flight.go_on(0.001)
    flight.process.kill()
    flight.process.communicate()
    until_gone(flight.session(), 20)
