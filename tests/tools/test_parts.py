"""What a launch file says of a node that has no such port, or of two clocks, is refused before anything starts."""

from pathlib import Path

import pytest

from graph.errors import InputError
from tools.session import load

INCLUDING = "name: changed\nargs: {scenario: {default: null-pad}}\ninclude: [{launch: sitl, args: {scenario: $scenario}"
CLOCK = """
from graph.service import Clock


class Impatient(Clock):
    def ahead(self, tick: int) -> float:
        return 0.0
"""


@pytest.mark.parametrize(
    ("rest", "error"),
    [
        (", remap: {gatez: seen}}]", "launch changed: remap: no port is on topic gatez; did you mean gates?; topics: "),
        (
            ", remap: {scene: picture}}]",
            "launch changed: remap: no port is on topic scene; did you mean score?; topics: ",
        ),
        (
            "}]\nnodes: {second: {node: nodes.clock}}",
            "launch changed: nodes.second: clock is a clock already; a run has one",
        ),
        (
            "}]\nnodes: {recorder: {node: nodes.recorder, inputs: {truth: truth}}}",
            "launch changed: nodes.recorder.inputs: nodes.recorder has no inputs to be wired",
        ),
        (
            "}]\nnodes: {scene: {node: nodes.scene, outputs: {scene: picture}}}",
            "launch changed: nodes.scene.outputs: nodes.scene has no outputs to be wired",
        ),
        ("}]\norder: [imu, imu]", "launch changed: order: topic imu stands there 2 times; name it once"),
        (
            "}]\nnodes: {clock: {node: impatient}}",
            "node clock: Options of impatient must derive from graph.service.ClockOptions",
        ),
    ],
)
def test_what_is_not_there(rest: str, error: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "impatient.py").write_text(CLOCK)
    (tmp_path / "changed.yaml").write_text(INCLUDING + rest)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InputError) as caught:
        load("./changed.yaml", [])
    assert str(caught.value).startswith(error)
