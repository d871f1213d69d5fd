"""bag of a run watched by viewers that misbehave == bag of the same run that nobody watches."""

from pathlib import Path

import pytest

from graph.bag import Bag
from graph.run import Execution, run
from tests.browser.live import SUBPROTOCOLS, Live
from tests.nodes.view.clients import TEXT, Client, frame
from tools.session import load

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("protocol", ["sdk.v1", "websocket.v1"])
def test_the_bytes_of_a_run_do_not_depend_on_who_watches(protocol: str, tmp_path: Path) -> None:
    if protocol == "websocket.v1":
        pytest.importorskip("foxglove_websocket", reason="needs the extra viewer-v1")
    session, _ = load("sitl", ["duration=8"])
    run(session, Execution(runner="inline", bag=str(tmp_path / "alone.mcap")))
    with Live(
        tmp_path / "watched.mcap", "duration=8", f"viewer_protocol={protocol}", "viewer_hz=0", rate="max"
    ) as live:
        lazy = Client(live.address, SUBPROTOCOLS[protocol], receive_buffer=4096)
        lazy.subscribe_all()
        for _ in range(20):
            client = Client(live.address, SUBPROTOCOLS[protocol])
            client.subscribe_all()
            client.socket.sendall(frame(TEXT, b'{"op": "subscr', announced=5000))
            client.reset()
        crowd = [Client(live.address, SUBPROTOCOLS[protocol]) for _ in range(20)]
        for client in crowd:
            client.subscribe_all()
        assert live.result() == 1, live.said
        for client in (lazy, *crowd):
            client.close()
    assert (tmp_path / "watched.mcap").read_bytes() == (tmp_path / "alone.mcap").read_bytes()
    assert Bag.open(tmp_path / "watched.mcap").counts["truth"] == 8001
