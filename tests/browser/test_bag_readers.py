"""A bag with its picture is read whole by @mcap/core, each message decoded from the schema it is recorded with."""

from pathlib import Path

import pytest

from graph.bag import Bag
from graph.execution import Execution
from graph.run import run
from tests.browser.live import missing, node
from tools.session import load

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "everything is there")


def test_mcap_core_decodes_every_message(tmp_path: Path) -> None:
    session, _ = load("sitl", ["duration=3"])
    run(session, Execution(runner="inline", bag=str(tmp_path / "run.mcap")))
    found = node("bag.mjs", str(tmp_path / "run.mcap"))
    bag = Bag.open(tmp_path / "run.mcap")
    assert found["counts"] == {topic: count for topic, count in bag.counts.items() if count}
    assert found["ordered"]
    assert found["last"]["truth"]["header"]["stamp"] == {"sec": 3, "nanosec": 0}
    assert [t["childFrameId"] for t in found["last"]["transforms"]["transforms"]] == ["drone", "camera"]
