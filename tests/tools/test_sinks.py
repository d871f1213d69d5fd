"""Every sink hears of a failure before it is closed, in every runner: viewers show it."""

import json
import queue
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from graph.build import Session, SinkPart
from graph.execution import Execution
from graph.outcome import NodeFailure
from graph.process.plan import WINDOWS_IN_FLIGHT
from graph.run import run
from graph.service import Sink, SinkContext
from tests.process.session import ZOO
from tools.session import load


class Witness(Sink):
    """Writes down what it is told."""

    heard: ClassVar[list[str]] = []

    def take(self, end: int, logs: Mapping[str, np.ndarray]) -> None:
        pass

    def failed(self, text: str) -> None:
        self.heard.append(text)

    def close(self) -> None:
        self.heard.append("closed")


class Broken(Witness):
    """Fails at its first window."""

    def take(self, end: int, logs: Mapping[str, np.ndarray]) -> None:
        raise OSError("disk full")


class Unsettled(Witness):
    """Misses something at the end."""

    def end(self, tick: int, counts: Mapping[str, int]) -> str | None:
        return "a message is missing"


class Diary(Sink):
    """Keeps the ends of the windows it took, and the ticks of a topic, in the file of its options."""

    def __init__(self, context: SinkContext) -> None:
        super().__init__(context)
        self._ends: list[int] = []
        self._ticks: list[int] = []

    def take(self, end: int, logs: Mapping[str, np.ndarray]) -> None:
        self._ends.append(end)
        self._ticks += logs["truth"]["tick"].tolist()

    def close(self) -> None:
        Path(self.context.options).write_text(json.dumps([self._ends, self._ticks]))


class Leisurely(Diary):
    """Takes its time."""

    PERIOD_S = 1.0


class Early(Diary):
    """Asks for the run's end before it has begun, and keeps the reply."""

    def __init__(self, context: SinkContext) -> None:
        super().__init__(context)
        self._replies: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        assert context.steer is not None
        context.steer({"kind": "stop"}, self._replies.put)

    def close(self) -> None:
        Path(self.context.options).write_text(json.dumps(self._replies.get(timeout=10)))


def fail(session: Session, runner: str, *sinks: type[Sink]) -> str:
    """The failure of a session with those sinks."""
    Witness.heard = []
    own = {f"sink{number}": SinkPart(sink, None) for number, sink in enumerate(sinks)}
    with pytest.raises(NodeFailure) as failure:
        run(Session(**{**vars(session), "sinks": own}), Execution(runner=runner, window_ms=10))
    return str(failure.value)


def test_a_node_that_raises() -> None:
    said = fail(load(ZOO, ["kind=raises"])[0], "inline", Witness, Witness)
    assert "out of luck at tick 500" in said
    assert Witness.heard == [said, said, "closed", "closed"]


@pytest.mark.parametrize("runner", ["inline", "fused"])
@pytest.mark.parametrize(("kind", "why"), [(Broken, "disk full"), (Unsettled, "a message is missing")])
def test_a_sink_that_fails(runner: str, kind: type[Sink], why: str) -> None:
    said = fail(load("sitl", ["scenario=null-pad", "duration=0.1"])[0], runner, kind, Witness)
    assert why in said
    assert Witness.heard == [said, said, "closed", "closed"]


def test_a_sink_that_takes_its_time_gets_everything_and_nobody_waits_for_it(tmp_path: Path) -> None:
    session, _ = load("sitl", ["scenario=null-pad", "duration=0.8"])
    sinks = {"prompt": SinkPart(Diary, tmp_path / "prompt"), "leisurely": SinkPart(Leisurely, tmp_path / "leisurely")}
    run(Session(**{**vars(session), "sinks": sinks}), Execution(runner="process", window_ms=10))
    ends, ticks = json.loads((tmp_path / "prompt").read_text())
    assert ends[-1] == 801
    assert ticks == list(range(801))
    few_ends, same_ticks = json.loads((tmp_path / "leisurely").read_text())
    assert same_ticks == ticks
    assert few_ends[-1] == 801
    assert len(few_ends) < len(ends) / WINDOWS_IN_FLIGHT  # as often as it would have held the clock up


@pytest.mark.parametrize("runner", ["process", "inline"])
def test_who_asks_before_the_run_has_begun_is_heard(runner: str, tmp_path: Path) -> None:
    session, _ = load("sitl", ["scenario=null-pad", "duration=600"])
    sinks = {"early": SinkPart(Early, tmp_path / "reply")}
    outcome = run(Session(**{**vars(session), "sinks": sinks}), Execution(runner=runner, window_ms=10))
    assert json.loads((tmp_path / "reply").read_text())["ok"]
    assert outcome.interrupted
    assert outcome.end < 600_000
