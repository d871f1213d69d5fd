"""The bag of a run watched by viewers that misbehave is that of the same run that nobody watches."""

from pathlib import Path

import pytest

from graph.bag import Bag
from graph.execution import Execution
from graph.run import run
from tests.browser.live import SUBPROTOCOLS, Live, call, missing, viewer
from tests.nodes.view.clients import TEXT, Client, frame
from tests.nodes.view.memory import MEGABYTE, resident
from tools.session import load

pytestmark = pytest.mark.slow


def flown_alone(protocol: str, duration: str, tmp_path: Path) -> bytes:
    """The bag of the run that nobody watches."""
    if protocol == "websocket.v1":
        pytest.importorskip("foxglove_websocket", reason="needs the extra viewer-v1")
    session, _ = load("sitl", [duration])
    run(session, Execution(runner="inline", bag=str(tmp_path / "alone.mcap")))
    return (tmp_path / "alone.mcap").read_bytes()


@pytest.mark.parametrize("protocol", ["sdk.v1", "websocket.v1"])
def test_the_bytes_of_a_run_do_not_depend_on_who_watches(protocol: str, tmp_path: Path) -> None:
    alone = flown_alone(protocol, "duration=8", tmp_path)
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
    assert (tmp_path / "watched.mcap").read_bytes() == alone
    assert Bag.open(tmp_path / "watched.mcap").counts["truth"] == 8001


@pytest.mark.skipif(bool(missing()), reason=missing() or "everything is there")
@pytest.mark.parametrize("protocol", ["sdk.v1", "websocket.v1"])
def test_a_thousand_viewers_come_and_go_in_flight(protocol: str, tmp_path: Path) -> None:
    alone = flown_alone(protocol, "duration=8", tmp_path)
    with Live(tmp_path / "watched.mcap", "duration=8", f"viewer_protocol={protocol}", "viewer_hz=0") as live:
        children = Path(f"/proc/{live.process.pid}/task/{live.process.pid}/children").read_text().split()
        held = []
        for number in range(1000):
            client = Client(live.address, SUBPROTOCOLS[protocol])
            if number % 2:
                client.subscribe_all()
            if number % 3:
                client.reset()
            else:
                client.close()
            if number in (199, 999):
                held.append(sum(resident(int(child)) for child in children))
        assert held[1] - held[0] < 40 * MEGABYTE
        assert live.process.poll() is None, "the run was over before they had all come"
        viewer(live, protocol, call("/clock/rate", factor="max"))
        assert live.result() == 1, live.said
    assert (tmp_path / "watched.mcap").read_bytes() == alone
