"""However a node fails, the run ends soon, with a sentence naming the node, the tick and what it owed, exit code 3, no
process left behind, and a bag that is readable up to there.
"""

import os
import re
import signal

import pytest

from graph.bag import Bag
from tests.process.session import NAMES, ZOO, Flight, tick_named, until_gone

OWED = "it owed topic mischief"


def some(default, every):
    """Those of the default suite first; the others take their turn with the slow tests."""
    return [*default, *(pytest.param(name, marks=pytest.mark.slow) for name in every if name not in default)]


def fly(kind, tmp_path, *more):
    bag = tmp_path / "run.mcap"
    code, out, err = Flight(ZOO, f"kind={kind}", "--record", str(bag), *more).end()
    return code, out, err, bag


def readable_up_to(bag, tick):
    """The bag holds every channel up to the last whole window before ``tick``."""
    assert Bag.open(bag).end_time >= (tick // 10 - 5) * 10_000_000


@pytest.mark.parametrize("kind", some(["chatters"], ["behaves", "slow"]))
def test_what_is_merely_unpleasant_ends_well(kind, tmp_path):
    code, _, err, bag = fly(kind, tmp_path)
    assert code == 0, err
    assert Bag.open(bag).counts["mischief"] == 1001


@pytest.mark.parametrize("runner", ["process", "inline"])
def test_an_exception_is_shown_with_its_traceback(runner, tmp_path):
    code, _, err, bag = fly("raises", tmp_path, "--runner", runner)
    assert code == 3
    assert 'raise ArithmeticError("out of luck")' in err
    last = err.strip().splitlines()[-1]
    assert last == (
        "holeshot: node culprit failed: ArithmeticError: out of luck at tick 500 (0.500 s simulated); " + OWED
    )
    if runner == "process":
        readable_up_to(bag, 500)


def test_an_exception_in_the_first_step(tmp_path):
    code, _, err, _ = fly("raises_at_once", tmp_path)
    assert code == 3
    assert "node culprit failed: ArithmeticError: born unlucky at tick 0 (0.000 s simulated); " + OWED in err


def test_an_output_of_the_wrong_type(tmp_path):
    code, _, err, _ = fly("wrong_type", tmp_path)
    assert code == 3
    assert "node culprit failed: " in err
    assert tick_named(err) == 500


@pytest.mark.parametrize(
    ("kind", "what"),
    [("dies", "was killed by SIGKILL"), ("exits_early", "exited with code 0 before the run ended")],
)
def test_a_node_that_is_gone(kind, what, tmp_path):
    code, _, err, bag = fly(kind, tmp_path)
    assert code == 3
    assert f"holeshot: node culprit {what} at tick 500 (0.500 s simulated); {OWED}" in err
    readable_up_to(bag, 500)


NOT_OWED = {
    "publishes_twice": "packet 0 came a second time",
    "skips": r"packet \d+ was lost, packet 10000 came in its place",
    "babbles": r"4 bytes came instead of packet \d+; they are no packet",
}


@pytest.mark.parametrize("kind", some(["skips"], NOT_OWED))
def test_packets_that_a_node_does_not_owe(kind, tmp_path):
    code, _, err, bag = fly(kind, tmp_path)
    assert code == 3
    assert re.search(f"holeshot: node culprit failed: its packets to recorder: {NOT_OWED[kind]} at tick 5", err), err
    readable_up_to(bag, 500)


@pytest.mark.parametrize("kind", some(["silent"], ["ignores_sigterm", "floods"]))
def test_a_node_that_stalls(kind, tmp_path):
    code, _, err, bag = fly(kind, tmp_path)
    assert code == 3
    assert f"holeshot: node culprit has not moved for 3 s at tick 500 (0.500 s simulated); {OWED}" in err
    readable_up_to(bag, 500)


def test_a_node_that_hangs_in_its_exit(tmp_path):
    code, _, err, bag = fly("hangs_in_exit", tmp_path)
    assert code == 0, err
    assert Bag.open(bag).counts["mischief"] == 1001


@pytest.mark.parametrize("node", some(["simulator", "recorder"], NAMES))
def test_sigkill_of_any_node_in_flight(node, tmp_path):
    bag = tmp_path / "run.mcap"
    flight = Flight("sitl", "--record", str(bag), "--rate", "2")
    pids = flight.wait_until_recording(bag)
    os.kill(pids[node], signal.SIGKILL)
    code, _, err = flight.end(timeout=5)  # a bound against hanging, not a measurement
    assert code == 3
    assert f"node {node} was killed by SIGKILL" in err
    until_gone(list(pids.values()), 0)
    readable_up_to(bag, tick_named(err))


@pytest.mark.parametrize("node", some(["clock"], NAMES))
def test_sigstop_of_a_node_is_a_stall(node, tmp_path):
    bag = tmp_path / "run.mcap"
    flight = Flight(ZOO, "scenario=b0-nominal", "duration=100.0", "--record", str(bag), "--rate", "2")
    pids = flight.wait_until_recording(bag, names=(*NAMES[:7], "culprit", *NAMES[7:]))
    os.kill(pids[node], signal.SIGSTOP)
    code, _, err = flight.end()
    assert code == 3
    assert f"node {node} has not moved for 3 s" in err


def test_ctrl_c_once_is_a_clean_end(tmp_path):
    bag = tmp_path / "run.mcap"
    flight = Flight("sitl", "--record", str(bag), "--rate", "2")
    flight.wait_until_recording(bag)
    flight.process.send_signal(signal.SIGINT)
    code, out, err = flight.end()
    assert code == 130, err
    assert "no score" in out
    assert Bag.open(bag).counts["truth"] > 0


@pytest.mark.parametrize("runner", ["process", "inline"])
def test_sigterm_is_a_clean_end_too(runner, tmp_path):
    bag = tmp_path / "run.mcap"
    flight = Flight("sitl", "--record", str(bag), "--rate", "2", "--runner", runner)
    while not (bag.exists() and bag.stat().st_size >= 30_000):
        flight.go_on()
    flight.process.send_signal(signal.SIGTERM)
    code, _, err = flight.end()
    assert code == 130, err
    assert Bag.open(bag).metadata["completeness"]["complete"] == "yes"


def test_ctrl_c_twice_is_at_once(tmp_path):
    bag = tmp_path / "run.mcap"
    flight = Flight(ZOO, "kind=silent", "--record", str(bag), "--rate", "0.1")
    while not (bag.exists() and bag.stat().st_size >= 30_000):
        flight.go_on()
    flight.process.send_signal(signal.SIGINT)
    flight.process.send_signal(signal.SIGINT)
    assert flight.end()[0] == 130
    assert Bag.open(bag).counts["truth"] > 0


def test_children_do_not_outlive_a_killed_launcher(tmp_path):
    bag = tmp_path / "run.mcap"
    flight = Flight("sitl", "--record", str(bag), "--rate", "2")
    pids = flight.wait_until_recording(bag)
    flight.process.kill()
    flight.process.communicate()
    until_gone(list(pids.values()), 5)
    assert Bag.open(bag).counts["truth"] > 0


@pytest.mark.parametrize("where", some([], ["take", "end"]))
def test_a_sink_that_hangs(where, tmp_path):
    (tmp_path / "stuck.yaml").write_text(
        f"name: stuck\ninclude: [{{launch: {ZOO}}}]\n"
        f"nodes: {{stuck: {{node: tests.process.zoo.stuck_sink, options: {{where: {where}}}}}}}\n"
    )
    bag = tmp_path / "run.mcap"
    code, _, err = Flight(str(tmp_path / "stuck.yaml"), "--record", str(bag)).end()
    assert code == 3
    assert "holeshot: node stuck has not moved for 3 s" in err
    assert Bag.open(bag).counts["truth"] >= (1001 if where == "end" else 500)


@pytest.mark.parametrize("moment", some([1, 4], range(6)))
def test_ctrl_c_while_the_processes_start(moment, tmp_path):
    bag = tmp_path / "run.mcap"
    flight = Flight("sitl", "--record", str(bag), "--rate", "2")
    while len(flight.children()) <= moment:
        flight.go_on(0.001)
    flight.process.send_signal(signal.SIGINT)
    code, _, err = flight.end()
    assert code == 130, err
    assert "Traceback" not in err
