"""The recorder proves completeness: a run whose bag lacks a message fails with exit code 3, and its bag says which."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from graph.bag import Bag
from nodes import recorder
from tests.tools.runs import Command
from tools.bag.info import completeness

ARGUMENTS = ["sitl", "scenario=null-pad", "duration=0.2"]
taken = recorder.Recorder.take


def forgetful(self: recorder.Recorder, end: int, logs: Mapping[str, Any]) -> None:
    """Loses the last IMU sample of every window."""
    taken(self, end, {**logs, "imu": logs["imu"][:-1]})


@pytest.mark.parametrize("runner", ["inline", "process", "fused"])
def test_a_loss_fails_the_run_and_is_in_the_bag(
    holeshot: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, runner: str
) -> None:
    monkeypatch.setattr(recorder.Recorder, "take", forgetful)
    bag = tmp_path / "run.mcap"
    code, _, err = holeshot("launch", *ARGUMENTS, "--runner", runner, "--window-ms", "100", "--record", bag)
    assert code == 3
    assert "node recorder failed: the bag is not complete: topic imu: 200 messages published, 19" in err
    opened = Bag.open(bag)
    assert opened.metadata["completeness"]["complete"] == "no"
    recorded = opened.counts["imu"]
    assert opened.metadata["completeness"]["topic imu"] == f"{recorded} of 200"
    assert opened.metadata["completeness"]["topic truth"] == "201"
    assert completeness(opened)["state"] == "no"


@pytest.mark.parametrize("runner", ["inline", "process", "fused"])
def test_a_complete_bag_says_so(holeshot: Command, tmp_path: Path, runner: str) -> None:
    bag = tmp_path / "run.mcap"
    assert holeshot("launch", *ARGUMENTS, "--runner", runner, "--record", bag)[0] == 0
    opened = Bag.open(bag)
    stated = {k.removeprefix("topic "): v for k, v in opened.metadata["completeness"].items() if k.startswith("topic ")}
    assert stated == {topic: str(opened.counts[topic]) for topic in stated}
    assert completeness(opened)["state"] == "yes"
