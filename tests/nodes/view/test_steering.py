"""What a viewer cannot ask for is refused in a status, and it sees how things stand: it never gets no answer."""

import base64
import json
import math
import struct
from collections.abc import Iterator
from typing import Any

import pytest

from graph.execution import Execution, sink_context
from graph.requests import read_request
from nodes.viewer import Options, Viewer
from tests.nodes.view.clients import BINARY, Client
from tools.session import load

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

PLAY, PAUSE = 0, 1


class Steered:
    """A viewer of a run that takes rates from 1e-3 to 4, as JSON."""

    def __init__(self, options: Options | None = None) -> None:
        session, _ = load("sitl", ["scenario=null-pad"])
        self.viewer = Viewer(sink_context(session, options or Options(), Execution(), self._steer))
        self.requests: list[Any] = []

    def _steer(self, request: Any, respond: Any) -> None:
        asked = read_request(json.dumps(request).encode())
        self.requests.append(asked)
        if asked["kind"] == "rate" and not 1e-3 <= asked["factor"] <= 4:
            respond({"ok": False, "error": "out of bounds"})
        else:
            respond({"ok": True, "tick": 0, "time_s": 0.0, "paused": asked["kind"] == "pause", "rate": 1.0})

    def client(self) -> Client:
        host, _, port = self.viewer.server.url.removeprefix("ws://").rpartition(":")
        return Client((host, int(port)), "foxglove.sdk.v1")


@pytest.fixture
def steered() -> Iterator[Steered]:
    steered = Steered()
    yield steered
    steered.viewer.close()


def status(client: Client) -> str:
    """The next warning."""
    found = client.until(lambda m: isinstance(m, dict) and m["op"] == "status" and m["level"] == 1)
    return str(found["message"])


@pytest.mark.parametrize("speed", [math.inf, 1e-20, 8.0])
def test_a_playback_speed_that_is_refused(steered: Steered, speed: float) -> None:
    with steered.client() as client:
        client.send(BINARY, struct.pack("<BBfBQI", 3, PAUSE, speed, False, 0, 1) + b"r")
        assert status(client) == "out of bounds"
        state = client.until(lambda m: isinstance(m, bytes) and m[0] == 5)
    assert struct.unpack_from("<f", state, 10) == (1.0,)


@pytest.mark.parametrize("name", ["rate", "paused", "seed"])
def test_a_parameter_of_bytes_is_refused(steered: Steered, name: str) -> None:
    with steered.client() as client:
        parameter = {"name": name, "type": "byte_array", "value": base64.b64encode(b"\xff\x00").decode()}
        client.say(op="setParameters", parameters=[parameter], id="set")
        assert status(client).startswith(f"parameter {name}")
    assert steered.requests == []


@pytest.mark.parametrize(("protocol", "name"), [("sdk.v1", "viewer.behind"), ("websocket.v1", "viewer.dropped")])
def test_what_viewers_miss_is_a_parameter(protocol: Any, name: str) -> None:
    if protocol == "websocket.v1":
        pytest.importorskip("foxglove_websocket", reason="needs the extra viewer-v1")
    steered = Steered(Options(protocol=protocol))
    try:
        values = steered.viewer.values()
        assert (values["viewer.left_out"], values[name]) == (0, 0)
    finally:
        steered.viewer.close()
