"""A late input takes what was delivered before the tick, wherever its node stands in the graph, in every runner."""

import numpy as np
import pytest

from graph.bag import Bag
from msgs.layout import record_dtype
from msgs.rotor_command import RotorCommand
from tests.tools.command import holeshot

LAUNCH = """
name: late
include: [{launch: sitl, args: {scenario: 'null-pad', duration: 0.2}}]
nodes:
  echo: {node: tests.process.zoo.echo, inputs: {truth: TOPIC}}
delayed: [echo.truth]
"""


@pytest.mark.parametrize("window_ms", ["10", "33"])
@pytest.mark.parametrize("runner", ["process", "inline", "fused"])
def test_a_late_input_outside_any_cycle(runner, window_ms, tmp_path):
    (tmp_path / "late.yaml").write_text(LAUNCH.replace("TOPIC", "truth"))
    bag = tmp_path / "run.mcap"
    run = holeshot(
        "launch", str(tmp_path / "late.yaml"), "--runner", runner, "--window-ms", window_ms, "--record", str(bag)
    )
    assert run.returncode == 0, run.stderr
    heard = Bag.open(bag).channel("echoed", record_dtype(RotorCommand))
    stamps = np.arange(200) * 1_000_000
    assert heard["data"]["speeds"][:, 0].tolist() == stamps.tolist()
    assert heard["log_time"].tolist() == (stamps + 1_000_000).tolist()
    assert (heard["data"]["speeds"][:, 1] == 1.0).all()
