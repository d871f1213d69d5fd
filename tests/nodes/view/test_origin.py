"""A web page that is neither a viewer, nor of this machine, nor named does not get in."""

from collections.abc import Iterator

import pytest

from graph.errors import InputError
from graph.execution import Execution, sink_context
from nodes.view.origin import is_welcome, listed
from nodes.viewer import Options, Viewer
from tests.nodes.view.clients import Client
from tools.session import load

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

NAMED = "https://named.example"
WELCOME = [
    [],
    ["https://app.foxglove.dev"],
    ["https://lichtblick-suite.github.io"],
    ["file://"],
    ["http://localhost:8080"],
    ["https://localhost"],
    ["http://127.0.0.1:3000"],
    ["http://[::1]:3000"],
    [NAMED],
]
REFUSED = [
    ["https://evil.example"],
    ["null"],
    [""],
    ["http://app.foxglove.dev"],
    ["https://app.foxglove.dev.evil.example"],
    ["https://localhost.evil.example"],
    ["https://evil.example/localhost"],
    ["https://named.example:8443"],
    ["http://[::1"],
    ["https://app.foxglove.dev", "https://evil.example"],
]


@pytest.mark.parametrize("origins", WELCOME)
def test_welcome(origins: list[str]) -> None:
    assert is_welcome(origins, listed(f" {NAMED},http://lab:8080 "))


@pytest.mark.parametrize("origins", REFUSED)
def test_refused(origins: list[str]) -> None:
    assert not is_welcome(origins, [NAMED])


@pytest.mark.parametrize("text", ["lab", "lab:8080", "http://", "https://a.example/path", "http://a:b", "http://[::1"])
def test_what_is_no_origin_is_named(text: str) -> None:
    with pytest.raises(InputError, match="is no origin; write it as SCHEME://HOST"):
        listed(text)


@pytest.fixture(scope="module")
def viewer() -> Iterator[Viewer]:
    pytest.importorskip("foxglove_websocket", reason="needs the extra viewer-v1")
    session, _ = load("sitl", ["scenario=null-pad"])
    options = Options(protocol="websocket.v1", origins=NAMED)
    viewer = Viewer(sink_context(session, options, Execution(), None))
    yield viewer
    viewer.close()


def connect(viewer: Viewer, origins: list[str]) -> Client:
    host, _, port = viewer.server.url.removeprefix("ws://").rpartition(":")
    return Client((host, int(port)), "foxglove.websocket.v1", origins=origins)


@pytest.mark.parametrize("origins", [WELCOME[0], WELCOME[1], [NAMED]])
def test_the_server_lets_in_who_is_welcome(viewer: Viewer, origins: list[str]) -> None:
    with connect(viewer, origins) as client:
        client.until(lambda m: isinstance(m, dict) and m["op"] == "serverInfo")


@pytest.mark.parametrize("origins", [REFUSED[0], REFUSED[1], REFUSED[-1]])
def test_the_server_refuses_all_others(viewer: Viewer, origins: list[str]) -> None:
    with pytest.raises(PermissionError, match="403 Forbidden"):
        connect(viewer, origins)


def test_the_other_server_says_that_it_cannot() -> None:
    with pytest.raises(InputError, match=r"the server of sdk\.v1 lets every page in; use protocol websocket\.v1"):
        Viewer.check(Options(origins=NAMED))
