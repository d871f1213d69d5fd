"""Kill any process at any moment: no orphan, no hang, and the bag holds every window that was final."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest
from mcap.reader import make_reader

from graph.bag import Bag, recover
from tests.process.session import COMMAND, NAMES, ROOT, Flight, tick_named

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


def test_a_kill_before_anything_is_ready(tmp_path):
    """Whatever stage the start has reached, the launcher's end is the end of all."""
    process = subprocess.Popen(
        [*COMMAND, "launch", "sitl", "--record", str(tmp_path / "run.mcap")],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    process.kill()
    process.communicate()
    left = subprocess.run([sys.executable, "-c", LEFT, str(process.pid)], capture_output=True, text=True, check=True)
    assert left.stdout == ""


LEFT = """
import os, sys
for pid in filter(str.isdigit, os.listdir('/proc')):
    try:
        if open(f'/proc/{pid}/stat').read().rpartition(')')[2].split()[1] == sys.argv[1]:
            print(pid)
    except OSError:
        pass
"""
