"""Every sink hears of a failure before it is closed, in every runner: viewers show it."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import pytest

from graph.build import Session
from graph.outcome import NodeFailure
from graph.run import Execution, run
from graph.service import Sink
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


def fail(session: Session, runner: str, *sinks: type[Sink]) -> str:
    """The failure of a session with those sinks."""
    Witness.heard = []
    own = {f"sink{number}": (sink, None) for number, sink in enumerate(sinks)}
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
