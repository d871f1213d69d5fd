"""A viewer nobody here wrote, @foxglove/ws-protocol in Node, watches and steers a run in both protocols."""

import os
import signal
import threading
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from graph.bag import Bag
from tests.browser.live import Live, call, missing, viewer
from tools.bag.proof import Proof
from tools.session import load

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "everything is there")

QUIET = {"motors"}  # baseline B0 never speaks on it
FAULT = {"kind": "motor_scale", "rotor": 1, "thrust_fraction": 0.9, "duration_s": 0.2}
PLAN = (
    {"do": "topics", "names": ["truth", "scene", "transforms"], "count": 3},
    call("/clock/pause"),
    call("/clock/step", ticks=10),
    call("/clock/step"),
    {"do": "get"},
    {"do": "get", "names": ["seed", "paused"]},
    call("/fault/inject", **FAULT),
    call("/fault/inject", kind="motor_scale", rotor=7, thrust_fraction=0.9),
    call("/fault/inject", rotor=1),
    call("/clock/step", ticks="ten"),
    call("/clock/step", steps=10),
    {"do": "call", "name": "/clock/step", "text": "{nonsense"},
    {"do": "call", "name": "/clock/step", "text": "[" * 10_000},
    {"do": "set", "values": {"rate": 4.0, "seed": 9, "paused": 3}},
    {"do": "set", "values": {"paused": False}},
    call("/clock/rate", factor="fast"),
    call("/clock/rate", factor="max"),
    {"do": "topics", "names": ["faults"], "count": 2},
    {"do": "closed"},
)


class Watched(NamedTuple):
    """A run that was watched, what the viewer saw, and what the launch said."""

    seen: Any
    bag: Path
    code: int
    said: str

    def result(self, number: int) -> Any:
        return self.seen["results"][number]


@pytest.fixture(scope="module", params=["sdk.v1", "websocket.v1"])
def protocol(request: pytest.FixtureRequest) -> str:
    if request.param == "websocket.v1":
        pytest.importorskip("foxglove_websocket", reason="needs the extra viewer-v1")
    return str(request.param)


@pytest.fixture(scope="module")
def watched(protocol: str, tmp_path_factory: pytest.TempPathFactory) -> Watched:
    bag = tmp_path_factory.mktemp("watched") / "run.mcap"
    with Live(bag, "duration=4", f"viewer_protocol={protocol}") as live:
        seen = viewer(live, protocol, *PLAN)
    return Watched(seen, bag, live.result(), live.said)


def test_the_launch_says_where_to_look_and_who_can(watched: Watched) -> None:
    assert "https://app.foxglove.dev/" in watched.said
    assert "(this machine only); layout to import: launch/holeshot.json" in watched.said
    assert watched.code == 1  # four seconds are no lap


def test_every_topic_is_decoded(watched: Watched) -> None:
    session, _ = load("sitl")
    topics = {t.name for t in session.graph.topics} | {t.name for d in session.derived for t in d.topics}
    assert watched.seen["errors"] == []
    assert watched.seen["channels"].keys() == topics
    assert topics - watched.seen["counts"].keys() <= QUIET


def test_the_picture_is_whole(watched: Watched) -> None:
    last = watched.seen["last"]
    assert [t["childFrameId"] for t in last["transforms"]["transforms"]] == ["drone", "camera"]
    assert {e["id"] for e in last["scene"]["entities"]} == {"forces", "carrot", "trail_tip"}
    course = {e["id"] for e in last["scene_course"]["entities"]}
    assert course == {"geofence", "airframe", "camera", "legend", "path", *(f"gate_{n}" for n in range(1, 12))}
    assert last["camera_image"]["format"] == "png"
    assert (last["camera_calibration"]["width"], last["camera_calibration"]["height"]) == (820, 616)


def test_simulated_time_goes_on(watched: Watched) -> None:
    times = watched.seen["times"]
    assert 0 <= times["first"] < times["last"] <= 4_001_000_000


def test_a_pause_holds_and_a_step_is_exact(watched: Watched) -> None:
    paused, ten, one = (watched.result(n) for n in (1, 2, 3))
    assert paused["reply"]["paused"]
    assert ten["reply"]["tick"] == paused["reply"]["tick"] + 10
    assert one["reply"]["tick"] == ten["reply"]["tick"] + 1


def test_parameters_are_readable(watched: Watched) -> None:
    every, some = watched.result(4), watched.result(5)
    assert every["scenario"] == "b0-nominal"
    assert every["baseline.cruise_speed_m_s"] == 4
    assert every["rate"] == 0.1
    assert some == {"seed": 1, "paused": True}


def test_a_fault_is_injected_and_the_run_still_verifies(watched: Watched) -> None:
    tick = watched.result(6)["reply"]["tick"]
    bag = Bag.open(watched.bag)
    stamps = [m.log_time for m in bag.messages() if m.topic == "faults"]
    assert stamps == [tick * 1_000_000, (tick + 200) * 1_000_000]
    assert Proof(bag).everything().report.identical


@pytest.mark.parametrize(
    ("step", "text"),
    [
        (7, "order: fault.rotor: is 7; must be less than or equal to 3"),
        (8, "/fault/inject: argument kind is missing"),
        (9, "request.ticks: is the text 'ten'; must be a whole number"),
        (10, "/clock/step: unknown argument steps (valid: ticks)"),
        (11, "/clock/step: the arguments must be a JSON object"),
        (12, "/clock/step: the arguments must be a JSON object"),
        (15, "request: factor fast: must be max, or 0.001 to 1000000"),
    ],
)
def test_what_is_not_valid_is_refused_in_words(watched: Watched, step: int, text: str) -> None:
    assert not watched.result(step)["ok"]
    assert text in watched.result(step)["message"]


def test_parameters_are_written_where_a_run_allows_it(watched: Watched) -> None:
    assert watched.result(13) == {"rate": 4, "seed": 1, "paused": True}
    assert watched.result(14) == {"paused": False}
    messages = [s["message"] for s in watched.seen["status"]]
    assert "parameter seed cannot be set while a run flies; these can: paused, rate" in messages
    assert "parameter paused: 3 is not of its type" in messages


def test_status_messages_tell_how_the_run_goes(watched: Watched) -> None:
    messages = [s["message"] for s in watched.seen["status"]]
    assert "paused" in messages
    assert any(m.startswith("no success: timeout") for m in messages)


@pytest.mark.parametrize("protocol", ["sdk.v1", "websocket.v1"])
def test_the_connection_graph_is_the_real_wiring(protocol: str, tmp_path: Path) -> None:
    with Live(tmp_path / "run.mcap", f"viewer_protocol={protocol}") as live:
        graph = viewer(live, protocol, {"do": "graph"}, call("/clock/stop"))["results"][0]
    published = {t["name"]: t["publisherIds"] for t in graph["publishedTopics"]}
    subscribed = {t["name"]: sorted(t["subscriberIds"]) for t in graph["subscribedTopics"]}
    assert published["truth"] == ["simulator"]
    assert published["scene"] == ["scene"]
    assert subscribed["truth"] == ["camera_oracle", "imu", "scene", "scorer", "stack"]
    assert {s["name"] for s in graph["advertisedServices"]} >= {"/clock/pause", "/fault/inject"}


def test_stop_ends_the_run_with_a_readable_bag(tmp_path: Path) -> None:
    with Live(tmp_path / "run.mcap") as live:
        viewer(live, "sdk.v1", {"do": "topics", "names": ["truth"]}, call("/clock/stop"), {"do": "closed"})
    assert live.result() == 130
    assert Proof(Bag.open(tmp_path / "run.mcap")).everything().report.identical


def test_an_inline_run_is_steered_too(tmp_path: Path) -> None:
    with Live(tmp_path / "run.mcap", "duration=3", "--runner", "inline") as live:
        plan = (call("/clock/pause"), call("/clock/step", ticks=10), call("/fault/inject", **FAULT))
        seen = viewer(live, "sdk.v1", *plan, call("/clock/rate", factor="max"), call("/clock/resume"), {"do": "closed"})
    ticks = [r["reply"]["tick"] for r in seen["results"][:3]]
    assert ticks[1] == ticks[0] + 10
    bag = Bag.open(tmp_path / "run.mcap")
    assert bag.counts["faults"] == 2
    assert Proof(bag).everything().report.identical


def test_a_node_that_fails_is_named_to_the_viewers(tmp_path: Path) -> None:
    with Live(tmp_path / "run.mcap") as live:
        children = Path(f"/proc/{live.process.pid}/task/{live.process.pid}/children").read_text().split()
        viewer(live, "sdk.v1", {"do": "topics", "names": ["truth"]})
        threading.Timer(1.0, os.kill, (int(children[0]), signal.SIGKILL)).start()
        seen = viewer(live, "sdk.v1", {"do": "status", "text": "was killed by SIGKILL"})
    assert live.result() == 3
    assert seen["errors"] == []
    assert any(s["level"] == 2 and "node fault_injector was killed" in s["message"] for s in seen["status"])
