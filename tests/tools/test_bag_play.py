"""play(bag) is heard as the bag's own messages; a stack that runs against a bag says what was recorded."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from graph.bag import Bag, BagWriter
from graph.bag.writer import OpaqueChannel
from graph.errors import InputError
from tests.tools import command
from tests.tools.runs import Command, record
from tools.bag.diff import columns
from tools.bag.pace import Pace

ROOT = Path(__file__).parents[2]
OUTPUTS = ("estimate", "reference", "thrust_rates", "motors")


def test_a_subscriber_hears_every_message_in_order(flight: Path) -> None:
    listener = [sys.executable, "-m", "tests.tools.listener", str(flight)]
    done = subprocess.run(listener, capture_output=True, text=True, cwd=ROOT, timeout=120, check=False)
    assert done.stdout == "63 True\n", done.stderr


class Keys:
    """A keyboard whose key is pressed at given looks."""

    def __init__(self, *looks: int) -> None:
        self._looks = set(looks)
        self.asked = 0

    def __call__(self, seconds: float) -> bool:
        self.asked += 1
        return self.asked in self._looks


def test_paused_waits_for_a_key(flight: Path) -> None:
    some: list[Any] = list(Bag.open(flight).messages())[:50]
    keys = Keys(3)
    assert list(Pace(float("inf"), keys, paused=True).of(some)) == some
    assert keys.asked == 3


def test_without_a_terminal_paused_is_refused(holeshot: Command, flight: Path) -> None:
    code, _, err = holeshot("bag", "play", flight, "--paused")
    assert code == 2
    assert err == "holeshot: --paused: there is no terminal whose space key could start the playback\n"


@pytest.mark.parametrize(("topic", "code"), [("/imu", 0), ("/camera/left", 0), ("what*ever", 2), ("a//b", 2)])
def test_names_of_another_s_topics(tmp_path: Path, topic: str, code: int) -> None:
    channel = OpaqueChannel(topic, "a/msg/B", "ros2msg", b"uint8 x", "cdr")
    with BagWriter(tmp_path / "bag.mcap", [channel], {}, {}, 1) as writer:
        writer.write([[(0, b"\0\1\0\0\7")]])
    play = command.holeshot("bag", "play", str(tmp_path / "bag.mcap"), "--rate", "max")  # zenoh in a process of its own
    assert play.returncode == code, play.stderr
    if code:
        assert f"topic {topic}: cannot be published: " in play.stderr


def test_an_id_that_is_no_part_of_a_key_is_refused(holeshot: Command, flight: Path) -> None:
    code, _, err = holeshot("bag", "play", flight, "--run", "a/b*")
    assert (code, err) == (2, "holeshot: --run 'a/b*': an id is made of letters, digits, _ and -\n")


@pytest.mark.parametrize("runner", ["inline", "process"])
def test_a_stack_against_recorded_sensors_says_what_was_recorded(flight: Path, tmp_path: Path, runner: str) -> None:
    again = Bag.open(record(tmp_path / "again.mcap", f"bag={flight}", name="replay-stack", runner=runner))
    new, old = columns(again), columns(Bag.open(flight))
    for topic in (*OUTPUTS, "imu", "truth", "camera", "gates"):
        assert new[topic].times.tolist() == old[topic].times.tolist()
        assert (new[topic].raw == old[topic].raw).all(), topic


def test_another_stack_against_recorded_sensors(flight: Path, tmp_path: Path) -> None:
    bag = Bag.open(record(tmp_path / "null.mcap", f"bag={flight}", "baseline=null", name="replay-stack"))
    assert bag.metadata["run"]["baseline"] == "null"
    assert bag.counts["reference"] == 0
    assert bag.counts["truth"] == 1251


def test_what_was_played_is_proven_for_its_stack_alone(holeshot: Command, flight: Path, tmp_path: Path) -> None:
    path = record(tmp_path / "again.mcap", f"bag={flight}", name="replay-stack")
    assert holeshot("bag", "verify", path)[0] == 0
    for arguments in (["--all"], ["--node", "player"]):
        code, _, err = holeshot("bag", "verify", path, *arguments)
        assert code == 2
        assert err.startswith("holeshot: node player (nodes.player.player) is plain Python")


def test_a_bag_that_is_missing_or_not_named(tmp_path: Path) -> None:
    for argument, message in (([], "world.bag: no bag given"), ([f"bag={tmp_path}/x.mcap"], "no such bag")):
        with pytest.raises(InputError, match=message):
            record(tmp_path / "never.mcap", *argument, name="replay-stack")
    assert not list(tmp_path.iterdir())
