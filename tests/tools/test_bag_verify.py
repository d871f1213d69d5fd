"""verify(bag) is identical for a bag as recorded; with any bit of an output changed it names topic, tick and field.

A recorded input that was changed shows in what its listeners would have said, and in who published it.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcap.writer import Writer

from graph.bag import Bag, BagWriter
from graph.bag.column import Column, leaves
from graph.bag.divergence import compare
from graph.replay import step_alone
from tests.tools.runs import Command, flipped, rewritten
from tools.bag.proof import Proof

NODES = ["fault_injector", "simulator", "imu", "camera_oracle", "stack", "sim_fc", "scorer"]


@pytest.fixture(scope="module")
def proof(flight: Path) -> Proof:
    return Proof(Bag.open(flight))


@pytest.mark.parametrize("node", NODES)
def test_every_node_says_again_what_was_recorded(holeshot: Command, flight: Path, node: str) -> None:
    code, out, err = holeshot("bag", "verify", flight, "--node", node)
    assert (code, out, err) == (0, f"node {node}: identical (1251 ticks, 1.251 s)\n", "")


def test_the_stack_is_the_node_by_default(holeshot: Command, flight: Path) -> None:
    assert holeshot("bag", "verify", flight)[:2] == (0, "node stack: identical (1251 ticks, 1.251 s)\n")


def test_the_whole_run_again(holeshot: Command, flight: Path) -> None:
    assert holeshot("bag", "verify", flight, "--all")[:2] == (0, "the whole run: identical (1251 ticks, 1.251 s)\n")


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_flipped_bit_of_an_output_is_found_and_named(proof: Proof, data: st.DataObject) -> None:
    node = data.draw(st.sampled_from(NODES))
    recorded = proof.recording.columns()
    again = proof.recording.columns(step_alone(proof.recording, node))
    topic = data.draw(st.sampled_from([t for t in again if len(again[t].times)]))
    index = data.draw(st.integers(0, len(again[topic].times) - 1))
    bit = data.draw(st.integers(0, 8 * again[topic].dtype.itemsize - 1))
    raw = recorded[topic].raw.copy()
    raw[index, bit // 8] ^= 1 << bit % 8
    changed = {t: recorded[t] for t in again} | {topic: Column(recorded[topic].times, raw, recorded[topic].dtype)}
    first = compare(changed, again).first
    assert first is not None
    assert (first.topic, first.time_ns, first.index) == (topic, int(recorded[topic].times[index]), index)
    owner = [leaf.path for leaf in leaves(recorded[topic].dtype) if leaf.offset <= bit // 8 < leaf.end]
    assert [first.field] == owner or first.field.startswith("(padding")


def test_the_report_names_tick_topic_field_values_node_and_inputs(
    holeshot: Command, flight: Path, tmp_path: Path
) -> None:
    # thrust_rates at 250 Hz: message 100 is that of tick 400. Byte 8 is the first of thrust, bit 0 its last place.
    bad = flipped(flight, tmp_path / "bad.mcap", "thrust_rates", 100, 64)
    code, out, _ = holeshot("bag", "verify", bad)
    assert code == 1
    lines = out.splitlines()
    assert lines[0] == "node stack: differs (1251 ticks, 1.251 s)"
    assert lines[1] == "first difference: tick 400, 0.4 s, topic thrust_rates, message 100, field thrust"
    assert lines[3].endswith("(1 ULP apart)")
    assert "  from node stack (nodes.stack), its step at tick 400, which had" in lines
    assert any(line.startswith("    truth, tick 400: stamp=400000000, position=(") for line in lines)
    assert "  thrust_rates: 1 of 313 messages differ" in lines
    assert any(line.startswith("    thrust: 1, largest distance ") and line.endswith("(1 ULP)") for line in lines)
    assert "library versions, Python and processor are those of the recording: the code differs" in lines


def test_the_report_as_json(holeshot: Command, flight: Path, tmp_path: Path) -> None:
    bad = flipped(flight, tmp_path / "bad.mcap", "rotor_command", 30, 65)
    code, out, _ = holeshot("bag", "verify", bad, "--node", "sim_fc", "--json")
    found = json.loads(out)
    assert code == 1
    assert not found["identical"]
    assert (found["first"]["topic"], found["first"]["tick"], found["first"]["field"]) == (
        "rotor_command",
        30,
        "speeds[0]",
    )
    assert found["node"]["name"] == "sim_fc"
    assert {i["port"] for i in found["node"]["inputs"]} == {"faults", "imu", "thrust_rates", "motors"}
    assert found["topics"]["rotor_command"]["differing"] == 1
    assert found["changes"] == []


def test_other_versions_and_processors_are_shown_beside_a_difference(
    holeshot: Command, flight: Path, tmp_path: Path
) -> None:
    bag = Bag.open(flipped(flight, tmp_path / "bad.mcap", "estimate", 3, 70))
    bag.metadata["versions"]["numpy"] = "1.0"
    from tools.bag.proof_text import as_text

    lines = as_text(Proof(bag).node("stack"))
    assert "what is not as it was when the bag was recorded:" in lines
    assert f"  numpy: 1.0 then, {np.__version__} here" in lines


def test_a_run_that_did_not_end_in_order_is_compared_up_to_its_last_complete_tick(
    holeshot: Command, flight: Path, tmp_path: Path
) -> None:
    early = rewritten(flight, tmp_path / "early.mcap", {}, without=["completeness"])
    assert holeshot("bag", "verify", early, "--all")[:2] == (0, "the whole run: identical (1250 ticks, 1.25 s)\n")


def test_a_bag_cut_off_anywhere_and_recovered_is_still_proven(holeshot: Command, flight: Path, tmp_path: Path) -> None:
    data = flight.read_bytes()
    for share in (0.4, 0.7, 0.95):
        crashed, whole = tmp_path / f"crashed-{share}.mcap", tmp_path / f"recovered-{share}.mcap"
        crashed.write_bytes(data[: int(len(data) * share)])
        code, _, err = holeshot("bag", "verify", crashed)
        assert code == 2
        assert "holeshot bag recover" in err
        assert holeshot("bag", "recover", crashed, whole)[0] == 0
        code, out, _ = holeshot("bag", "verify", whole, "--all")
        assert (code, out.split(" (")[0]) == (0, "the whole run: identical")


def test_a_part_from_the_beginning_is_proven_one_without_it_is_not(
    holeshot: Command, flight: Path, tmp_path: Path
) -> None:
    head, tail = tmp_path / "head.mcap", tmp_path / "tail.mcap"
    assert holeshot("bag", "cut", flight, head, "--to", "0.5")[0] == 0
    assert holeshot("bag", "verify", head)[:2] == (0, "node stack: identical (500 ticks, 0.5 s)\n")
    assert holeshot("bag", "cut", flight, tail, "--from", "0.5")[0] == 0
    code, _, err = holeshot("bag", "verify", tail)
    assert code == 2
    assert "is a part of a bag without its beginning" in err


def test_a_part_of_a_bag_that_did_not_end_in_order_has_its_last_tick_in_part_too(
    holeshot: Command, flight: Path, tmp_path: Path
) -> None:
    early, part, again = (tmp_path / f"{name}.mcap" for name in ("early", "part", "again"))
    rewritten(flight, early, {}, without=["completeness"])
    assert holeshot("bag", "cut", early, part)[0] == 0
    assert holeshot("bag", "cut", part, again)[0] == 0
    assert holeshot("bag", "verify", again)[:2] == (0, "node stack: identical (1250 ticks, 1.25 s)\n")
    head = tmp_path / "head.mcap"
    assert holeshot("bag", "cut", again, head, "--to", "0.5")[0] == 0
    assert holeshot("bag", "verify", head)[:2] == (0, "node stack: identical (500 ticks, 0.5 s)\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--node", "stak"], "has no node stak; did you mean stack?; nodes: fault_injector, simulator"),
        (["--node", "imu", "--all"], "bag verify: --all includes every node; leave out --node"),
    ],
)
def test_bad_input(holeshot: Command, flight: Path, arguments: list[str], message: str) -> None:
    code, out, err = holeshot("bag", "verify", flight, *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert err.startswith("holeshot: ")


def test_a_module_that_a_bag_names_is_run_only_when_it_is_trusted(
    holeshot: Command, flight: Path, tmp_path: Path
) -> None:
    from graph.bag.writer import OpaqueChannel

    bag = Bag.open(flight)
    launch = bag.attachments["launch.yaml"].replace(b"nodes.imu", b"my_team.imu")
    channels = [OpaqueChannel("x", "x", "ros2msg", b"float64 x\n", "cdr")]
    with BagWriter(tmp_path / "gone.mcap", channels, {}, {**bag.attachments, "launch.yaml": launch}, 1):
        pass
    for command in (["bag", "verify"], ["score"]):
        code, _, err = holeshot(*command, tmp_path / "gone.mcap")
        assert code == 2
        assert "gone.mcap: node imu is the module my_team.imu, which is not holeshot's own and would be run" in err
    code, _, err = holeshot("bag", "verify", tmp_path / "gone.mcap", "--trust")
    assert code == 2
    assert err == "holeshot: node imu: there is no module my_team.imu; it is the import path of a Python module\n"


def test_a_slot_that_a_bag_names_is_run_only_when_it_is_trusted(
    holeshot: Command, flight: Path, tmp_path: Path
) -> None:
    bag = Bag.open(flight)
    baseline = bag.attachments["baseline.yaml"].replace(b"GroundTruthEstimator", b"my_team.estimator")
    own = tmp_path / "own.mcap"
    with BagWriter(own, [], {}, {**bag.attachments, "baseline.yaml": baseline}, 1):
        pass
    for command, trust in (
        (["bag", "verify", own], "--trust"),
        (["launch", "replay-stack", f"bag={own}"], "trust=true"),
    ):
        code, _, err = holeshot(*command)
        assert code == 2
        assert "own.mcap: baseline slot estimator is the module my_team.estimator, which is not holeshot's own" in err
        code, _, err = holeshot(*command, trust)
        assert code == 2
        assert "not holeshot's own" not in err
    assert "there is no module my_team.estimator" in holeshot("bag", "verify", own, "--trust")[2]


def test_a_bag_of_something_else_is_refused(holeshot: Command, tmp_path: Path) -> None:
    from tests.graph.bag.samples import logs_until, write_bag

    write_bag(tmp_path / "other.mcap", [logs_until(20)])
    code, _, err = holeshot("bag", "verify", tmp_path / "other.mcap")
    assert code == 2
    assert err.endswith(
        "does not carry vehicle.yaml, course.yaml, baseline.yaml, launch.yaml: only a bag recorded by holeshot can be "
        "computed again\n"
    )


@pytest.mark.parametrize("topic", ["imu", "scene"])
@pytest.mark.parametrize(("publish_shift", "sequence_shift"), [(1, 0), (0, 1)])
def test_what_stands_before_a_message_is_proven_too(
    holeshot: Command, flight: Path, tmp_path: Path, topic: str, publish_shift: int, sequence_shift: int
) -> None:
    bag = Bag.open(flight)
    with (tmp_path / "other.mcap").open("wb") as stream:
        writer = Writer(stream)
        writer.start()
        channels = {}
        for name in bag.topics:
            schema = bag.schemas[name]
            schema_id = writer.register_schema(schema.name, schema.encoding, schema.data)
            channels[name] = writer.register_channel(name, bag.encodings[name], schema_id)
        for name, data in bag.attachments.items():
            writer.add_attachment(0, 0, name, "", data)
        for name, entries in bag.metadata.items():
            writer.add_metadata(name, dict(entries))
        for m in bag.messages():
            wrong = m.topic == topic and m.sequence == 7
            publish_time, sequence = m.log_time + wrong * publish_shift, m.sequence + wrong * sequence_shift
            writer.add_message(channels[m.topic], m.log_time, m.data, publish_time, sequence)
        writer.finish()
    code, _, err = holeshot("bag", "verify", tmp_path / "other.mcap", "--all")
    assert code == 2
    assert f"topic {topic}: " in err
