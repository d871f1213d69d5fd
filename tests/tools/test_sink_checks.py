"""A sink that cannot be opened ends a launch before any other is: a bag that is there stays, in every runner."""

import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graph.build import Session, SinkPart
from graph.errors import InputError
from graph.execution import Execution
from graph.run import RUNNERS, run
from graph.service import Sink
from nodes.viewer import Options, Viewer
from tests.tools.runs import Command
from tools.session import load


class Reluctant(Sink):
    """Cannot be opened."""

    @classmethod
    def check(cls, options: Any) -> None:
        raise InputError("reluctant: not today")

    def take(self, end: int, logs: Mapping[str, np.ndarray]) -> None:
        pass

    def close(self) -> None:
        pass


@pytest.mark.parametrize("runner", RUNNERS)
def test_no_sink_is_opened_when_a_later_one_cannot_be(runner: str, tmp_path: Path) -> None:
    bag = tmp_path / "run.mcap"
    bag.write_bytes(b"what was recorded before")
    session, _ = load("sitl", ["scenario=null-pad", "duration=0.1"])
    with_another = Session(**{**vars(session), "sinks": {**session.sinks, "reluctant": SinkPart(Reluctant, None)}})
    with pytest.raises(InputError, match="reluctant: not today"):
        run(with_another, Execution(runner, bag=str(bag)))
    assert bag.read_bytes() == b"what was recorded before"


def test_a_viewer_checks_its_port(holeshot: Command, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"viewer: port {port} of 127.0.0.1 is in use"):
            Viewer.check(Options(port=port))
        bag = tmp_path / "run.mcap"
        command = ("launch", "sitl", "scenario=null-pad", f"viewer_port={port}", "--viewer", "--record", bag)
        code, _, err = holeshot(*command)
        assert code == 2
        assert f"port {port} of 127.0.0.1 is in use" in err
        assert not bag.exists()
