"""Whoever listens from outside, however badly, never holds a run up and changes no byte of it."""

import json
import os
import subprocess
import sys

import pytest

from graph.process.register import running
from tests.process.session import ROOT, ZOO, Flight
from tests.tools.command import holeshot

DEAF = """
import json, sys, zenoh
run = json.loads(sys.stdin.readline())
with zenoh.open(zenoh.Config.from_json5(json.dumps(run["zenoh"]))) as session:
    held = [session.declare_subscriber(t["key"], zenoh.handlers.FifoChannel(1)) for t in run["topics"]]
    print("listening", flush=True)
    sys.stdin.read()
"""

MEDDLER = """
import json, sys, zenoh
run = json.loads(sys.stdin.readline())
done = run["control"].replace("@control", "@done/")
with zenoh.open(zenoh.Config.from_json5(json.dumps(run["zenoh"]))) as session:
    session.put(done + "stranger", bytes(16))
    session.put(done + "imu", b"not a report")
"""


def seen(flight):
    """The entry of a flight in the register."""
    while not (found := [run for run in running() if run["pid"] == flight.process.pid]):
        flight.go_on()
    return found[0]


def test_reports_of_those_who_have_no_part_in_the_run(tmp_path):
    flight = Flight(ZOO, "duration=3.0", "--record", str(tmp_path / "run.mcap"), "--rate", "2")
    meddler = [sys.executable, "-c", MEDDLER]
    subprocess.run(meddler, input=json.dumps(seen(flight)) + "\n", text=True, cwd=ROOT, timeout=30, check=True)
    code, _, err = flight.end()
    assert code == 0, err


@pytest.mark.slow
def test_a_listener_that_never_reads(tmp_path):
    alone, watched = tmp_path / "alone.mcap", tmp_path / "watched.mcap"
    arguments = ("sitl", "scenario=b0-nominal", "duration=4.0")
    assert holeshot("launch", *arguments, "--runner", "inline", "--record", str(alone)).returncode == 1
    flight = Flight(*arguments, "--record", str(watched), "--rate", "2")
    found = seen(flight)
    with subprocess.Popen(
        [sys.executable, "-c", DEAF], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=os.environ
    ) as listener:
        assert listener.stdin is not None
        assert listener.stdout is not None
        listener.stdin.write(json.dumps(found) + "\n")
        listener.stdin.flush()
        assert listener.stdout.readline() == "listening\n"
        code, _, err = flight.end()
        listener.kill()  # it never reads, so it never ends
    assert code == 1, err  # four seconds are no two laps
    assert watched.read_bytes() == alone.read_bytes()
