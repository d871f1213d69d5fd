"""The reference bag is what the code produces: today's run of its scenario says the same, byte by byte.

A change of the code that alters any byte of a run fails here. What is compared: every message, and the files carried
along; not versions and processor, which a failure shows instead.
"""

from pathlib import Path

import pytest

from graph.bag import Bag
from tests.gates.runs import record
from tools.bag.diff import provenance
from tools.bag.proof import Proof
from tools.bag.proof_text import as_text

BAG = Path(__file__).parents[2] / "bags/reference-b0-determinism.mcap"
LARGEST = 600_000
HINT = """
look:   holeshot bag verify bags/reference-b0-determinism.mcap --all
update: make golden   (when the change is meant; see bags/README.md)
"""


def test_the_run_again_says_what_the_reference_bag_holds() -> None:
    found = Proof(Bag.open(BAG)).everything()
    if not found.report.identical:
        pytest.fail("\n".join(as_text(found)) + HINT, pytrace=False)


def test_each_node_says_what_the_reference_bag_holds() -> None:
    proof = Proof(Bag.open(BAG))
    for instance in proof.session.graph.instances:
        found = proof.node(instance.name)
        if not found.report.identical:
            pytest.fail("\n".join(as_text(found)) + HINT, pytrace=False)


def test_the_shipped_files_are_those_of_the_reference_bag(tmp_path: Path) -> None:
    record(tmp_path / "now.mcap", "inline", "scenario=b0-determinism", "duration=1.25")
    around = provenance(Bag.open(BAG), Bag.open(tmp_path / "now.mcap"))
    changed = [name for name, _, _ in around if name.startswith(("attachment", "run."))]
    if changed:
        pytest.fail(f"changed since the reference bag was recorded: {', '.join(changed)}{HINT}", pytrace=False)


def test_the_reference_bag_is_small() -> None:
    assert BAG.stat().st_size < LARGEST
