"""What the tests of the command share: one recorded run, and the command."""

from pathlib import Path

import pytest

from tests.tools.runs import Command, record


@pytest.fixture(scope="session")
def flight(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A second of baseline B0 with corrupted camera frames."""
    return record(tmp_path_factory.mktemp("flight") / "flight.mcap", "scenario=b0-determinism", "duration=1.25")


@pytest.fixture
def holeshot(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(monkeypatch, capsys)
