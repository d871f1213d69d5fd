"""A == B, A == rerun(A), A == replay(A): a run is the same bytes wherever and whenever it is computed.

For the vehicle at rest on the pad (P0, null baseline), for an open-loop hop with everything random at work (drawn
parameters, IMU noise and bias, corrupted frames, a bias step), and for baseline B0 through takeoff and the first gates:
the bags of all runners are equal byte by byte, so is that of a rerun and of any clock window; two replays of every node
from the bag alone, and the whole run computed again from its seed, say what was recorded.
"""

from pathlib import Path

import pytest

from graph.bag import Bag
from graph.run import RUNNERS
from tests.gates.runs import record
from tools.bag.proof import Proof

SCENARIOS = {
    "P0 replay determinism": "null-pad",
    "SITL determinism": "scripted-hop",
    "B0 determinism": "b0-determinism",
}
gate = pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS.keys())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("determinism")


def reference(folder: Path, scenario: str) -> Path:
    """The bag of the inline runner, recorded once."""
    path = folder / f"{scenario}.mcap"
    if not path.exists():
        record(path, "inline", f"scenario={scenario}")
    return path


@gate
@pytest.mark.parametrize("runner", RUNNERS)
def test_every_runner_records_the_same_bytes(folder: Path, scenario: str, runner: str) -> None:
    # For the inline runner this is the rerun.
    again = record(folder / f"{scenario}-{runner}.mcap", runner, f"scenario={scenario}")
    assert again == reference(folder, scenario).read_bytes()


@pytest.mark.parametrize(
    ("runner", "window_ms"), [("process", 1.0), ("process", 100.0), ("inline", 1.0), ("fused", 7.0)]
)
def test_the_clocks_window_changes_no_byte(folder: Path, runner: str, window_ms: float) -> None:
    arguments = ("scenario=scripted-hop", "duration=2.5")
    again = record(folder / f"{runner}-{window_ms}.mcap", runner, *arguments, window_ms=window_ms)
    assert again == record(folder / "usual.mcap", "inline", *arguments)


@gate
def test_two_replays_of_every_node_say_what_was_recorded(folder: Path, scenario: str) -> None:
    path = reference(folder, scenario)
    for _ in range(2):
        proof = Proof(Bag.open(path))
        for instance in proof.session.graph.instances:
            assert proof.node(instance.name).report.identical, instance.name


@gate
def test_the_whole_run_again_says_what_was_recorded(folder: Path, scenario: str) -> None:
    found = Proof(Bag.open(reference(folder, scenario))).everything()
    assert found.report.identical
    assert found.complete == "yes"


def test_another_seed_is_another_run(folder: Path) -> None:
    other = record(folder / "seed.mcap", "inline", "scenario=scripted-hop", "seed=2", "duration=0.5")
    assert other != record(folder / "first.mcap", "inline", "scenario=scripted-hop", "duration=0.5")
