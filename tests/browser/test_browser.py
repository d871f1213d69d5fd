"""A page in a headless Chromium connects to a live run, watches it and steers it; its bag still verifies."""

import shutil
from pathlib import Path

import pytest

from graph.bag import Bag
from tests.browser.live import SUBPROTOCOLS, Live, missing, node
from tools.bag.proof import Proof

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

pytestmark = [
    pytest.mark.skipif(bool(missing()), reason=missing() or "everything is there"),
    pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium: apt-get install chromium"),
]


@pytest.mark.parametrize("protocol", ["sdk.v1", pytest.param("websocket.v1", marks=pytest.mark.slow)])
def test_a_page_watches_and_steers_a_run(protocol: str, tmp_path: Path) -> None:
    assert CHROMIUM is not None
    with Live(tmp_path / "run.mcap", "duration=10", f"viewer_protocol={protocol}") as live:
        seen = node("page.mjs", live.url, SUBPROTOCOLS[protocol], CHROMIUM)
    assert seen["problems"] == []
    assert seen["times"] == sorted(seen["times"])
    assert seen["stepped"]["tick"] == seen["paused"]["tick"] + 10
    assert not seen["resumed"]["paused"]
    assert [t["childFrameId"] for t in seen["decoded"]["transforms"]["transforms"]] == ["drone", "camera"]
    assert any(e["id"] == "gate_1" for e in seen["decoded"]["scene_course"]["entities"])
    bag = Bag.open(tmp_path / "run.mcap")
    assert next(m.log_time for m in bag.messages() if m.topic == "faults") == seen["injected"]["tick"] * 1_000_000
    assert Proof(bag).everything().report.identical
