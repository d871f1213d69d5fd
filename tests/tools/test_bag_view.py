"""A bag is played to viewers with pause, step, speed and seek; the picture at a time is whole wherever one begins."""

import re
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from graph.bag import Bag
from graph.errors import InputError
from tests.nodes.view.clients import BINARY, MESSAGE, Client
from tests.tools.runs import record, rewritten
from tools.bag.proof import Proof
from tools.bag.proof_text import as_text
from tools.bag.view import BagPlayer

ROOT = Path(__file__).parents[2]
PLAY, PAUSE = 0, 1
PLAYING, PAUSED, BUFFERING, ENDED = range(4)


class State(NamedTuple):
    status: int
    time_ns: int
    speed: float
    seeked: bool
    request: str


def request(command: int, speed: float, seek_ns: int | None, name: str) -> bytes:
    """A playback control request of foxglove.sdk.v1."""
    seek = struct.pack("<BQ", seek_ns is not None, seek_ns or 0)
    return struct.pack("<BBf", 3, command, speed) + seek + struct.pack("<I", len(name)) + name.encode()


def state_of(message: bytes) -> State:
    """A playback state of foxglove.sdk.v1."""
    status, time_ns, speed, seeked, size = struct.unpack_from("<BQfBI", message, 1)
    return State(status, time_ns, speed, bool(seeked), message[19 : 19 + size].decode())


class Watcher:
    """A viewer of a bag that is being played."""

    def __init__(self, address: tuple[str, int]) -> None:
        self.client = Client(address, "foxglove.sdk.v1")
        self.topics = {c["id"]: c["topic"] for c in self.client.subscribe_all()}

    def control(self, command: int, speed: float = 1.0, seek_ns: int | None = None, name: str = "r") -> State:
        self.client.send(BINARY, request(command, speed, seek_ns, name))
        return self.state(lambda s: s.request == name)

    def state(self, wanted: Any) -> State:
        return state_of(self.client.until(lambda m: isinstance(m, bytes) and m[0] == 5 and wanted(state_of(m))))

    def newest(self, count: int) -> dict[str, int]:
        """Time of the newest message of each of the next topics that speak, until ``count`` have."""
        found: dict[str, int] = {}

        def gathered(message: Any) -> bool:
            if isinstance(message, bytes) and message[0] == MESSAGE:
                subscription, time_ns = struct.unpack_from("<IQ", message, 1)
                found[self.topics[subscription]] = time_ns
            return len(found) == count

        self.client.until(gathered)
        return found


@pytest.fixture(scope="module")
def bag(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record(tmp_path_factory.mktemp("view") / "run.mcap", "duration=4")


@contextmanager
def watching(bag: Path, *options: str) -> Iterator[Watcher]:
    """A viewer of ``bag play --viewer`` with these options."""
    command = [
        sys.executable,
        "-c",
        "from tools.cli import main; main()",
        "bag",
        "play",
        str(bag),
        "--viewer",
        *options,
    ]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stderr is not None
        said = ""
        for line in process.stderr:
            said += line
            found = re.search(r"^ +ws://(\S+):(\d+) ", line)
            if found:
                break
        assert found, said
        reader = threading.Thread(target=process.stderr.read)
        reader.start()
        watcher = Watcher((found[1], int(found[2])))
        yield watcher
        watcher.client.close()
        process.terminate()
        reader.join()


@pytest.fixture
def watcher(bag: Path) -> Iterator[Watcher]:
    with watching(bag, "--paused") as watcher:
        yield watcher


def test_a_loop_tells_that_it_jumps_back_to_where_it_began(bag: Path) -> None:
    with watching(bag, "--loop", "--from", "3", "--rate", "2") as watcher:
        watcher.control(PLAY, speed=2.0)
        jumped = watcher.state(lambda s: s.seeked)
        assert (jumped.status, jumped.time_ns) == (PLAYING, 3_000_000_000)


def test_a_seek_shows_the_newest_message_of_every_topic_at_that_time(bag: Path, watcher: Watcher) -> None:
    recorded = list(Bag.open(bag).messages())
    for second in (3.3, 1.5):  # forward, and back
        at = int(second * 1e9)
        state = watcher.control(PAUSE, seek_ns=at, name=f"to {second}")
        assert state == State(PAUSED, at, 1.0, True, f"to {second}")
        expected = {m.topic: m.log_time for m in recorded if m.log_time <= at}
        assert watcher.newest(len(expected)) == expected


def test_a_bag_plays_to_its_end_and_says_so(watcher: Watcher) -> None:
    assert watcher.control(PLAY, speed=8.0).status == PLAYING
    assert watcher.state(lambda s: s.status == ENDED).time_ns == 4_000_000_000
    state = watcher.control(PLAY, speed=0.5, seek_ns=2_000_000_000, name="again")
    assert (state.status, state.seeked, state.speed) == (PLAYING, True, 0.5)


def test_a_time_beyond_the_bag_is_its_end(watcher: Watcher) -> None:
    assert watcher.control(PAUSE, seek_ns=1 << 62).time_ns == 4_000_000_000


def test_a_step_is_a_tick_of_the_recorded_run(bag: Path) -> None:
    recorded = Bag.open(bag)
    scenario = recorded.attachments["scenario.yaml"].replace(b"physics_rate_hz: 1000", b"physics_rate_hz: 500")
    for texts, tick_ns in (
        ({"scenario.yaml": scenario}, 2_000_000),
        ({"scenario.yaml": b"\xff"}, 1_000_000),
        ({}, 1_000_000),
    ):
        recorded.attachments = texts
        player = BagPlayer(recorded, recorded.topics, rate=1.0, begin_ns=0, loop=False, paused=True)
        reply = player.ask({"kind": "step", "ticks": 3})
        assert (reply["tick"], reply["time_s"]) == (3, 3 * tick_ns * 1e-9)


@pytest.mark.parametrize("factor", [1e308, 1e-300, 10**400, 0, None])
def test_a_speed_that_no_timer_keeps_is_refused(bag: Path, factor: Any) -> None:
    recorded = Bag.open(bag)
    player = BagPlayer(recorded, recorded.topics, rate=1.0, begin_ns=0, loop=False, paused=True)
    with pytest.raises(InputError, match=r"must be max, or 0\.001 to 1000000 simulated seconds per second"):
        player.write("rate", factor)
    assert player.values()["rate"] == 1.0


def test_verify_computes_the_picture_again(bag: Path, tmp_path: Path) -> None:
    assert Proof(Bag.open(bag)).everything().report.identical
    scene = [m for m in Bag.open(bag).messages() if m.topic == "scene"][7]
    changed = scene.data[:-1] + bytes([scene.data[-1] ^ 1])
    verification = Proof(Bag.open(rewritten(bag, tmp_path / "changed.mcap", {("scene", 7): changed}))).everything()
    assert not verification.report.identical
    text = "\n".join(as_text(verification))
    assert "topic scene, message 7, field (content)" in text
