"""info, diff, cut, recover, export and score: what they print and write, and what they refuse."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from rosbags.highlevel import AnyReader

from graph.bag import Bag
from msgs.layout import record_dtype
from msgs.truth_state import TruthState
from tests.tools.runs import Command, flipped, rewritten


def test_info_shows_topics_provenance_and_completeness(holeshot: Command, flight: Path) -> None:
    code, out, _ = holeshot("bag", "info", flight, "--json")
    found = json.loads(out)
    assert code == 0
    truth = found["topics"]["truth"]
    assert (truth["type"], truth["count"], truth["sequence_gaps"]) == ("holeshot_msgs/msg/TruthState", 1251, 0)
    assert truth["rate_hz"] == pytest.approx(1000.0)
    assert (truth["first_s"], truth["last_s"], found["duration_s"]) == (0.0, 1.25, 1.25)
    assert found["metadata"]["run"]["scenario"] == "b0-determinism"
    assert set(found["attachments"]) == {f"{n}.yaml" for n in ("scenario", "vehicle", "course", "baseline", "launch")}
    assert found["completeness"] == {
        "state": "yes",
        "text": "complete: every message published before tick 1251 is here",
    }
    out = holeshot("bag", "info", flight)[1]
    assert "complete: every message published before tick 1251 is here" in out
    assert "scenario b0-determinism" in out


def test_info_sees_that_messages_were_taken_out(holeshot: Command, flight: Path, tmp_path: Path) -> None:
    part = tmp_path / "part.mcap"
    assert holeshot("bag", "cut", flight, part, "--to", "1")[0] == 0
    assert json.loads(holeshot("bag", "info", part, "--json")[1])["completeness"]["state"] == "cut"
    bag = rewritten(flight, tmp_path / "early.mcap", {}, without=["completeness"])
    assert json.loads(holeshot("bag", "info", bag, "--json")[1])["completeness"]["state"] == "unknown"


def test_without_the_picture_a_bag_is_read_by_rosbags(holeshot: Command, flight: Path, tmp_path: Path) -> None:
    bag = Bag.open(flight)
    topics = [topic for topic in bag.topics if bag.encodings[topic] == "cdr"]
    assert holeshot("bag", "cut", flight, tmp_path / "part.mcap", "--topics", ",".join(topics))[0] == 0
    counts = dict.fromkeys(topics, 0)
    with AnyReader([tmp_path / "part.mcap"]) as reader:
        for connection, _, data in reader.messages():
            reader.deserialize(data, connection.msgtype)
            counts[connection.topic] += 1
    assert counts == {topic: bag.counts[topic] for topic in topics}


def test_diff_of_a_bag_with_itself(holeshot: Command, flight: Path) -> None:
    assert holeshot("bag", "diff", flight, flight) == (0, "identical messages\n", "")


def test_diff_reports_ignores_and_tolerates(holeshot: Command, flight: Path, tmp_path: Path) -> None:
    other = flipped(flight, tmp_path / "other.mcap", "truth", 10, 65)
    code, out, _ = holeshot("bag", "diff", flight, other)
    lines = out.splitlines()
    assert code == 1
    assert lines[:2] == [
        "messages differ",
        "first difference: 0.01 s, topic truth, message 10, field position.x",
    ]
    assert "  truth: 1 of 1251 messages differ" in lines
    assert any(line.startswith("    position.x: 1, largest distance ") for line in lines)
    for arguments in (["--ignore", "truth"], ["--ignore", "position"], ["--ignore", "truth.position.x"]):
        assert holeshot("bag", "diff", flight, other, *arguments)[0] == 0
    assert holeshot("bag", "diff", flight, other, "--tolerance", "1e-6")[0] == 0
    assert holeshot("bag", "diff", flight, other, "--tolerance", "1e-20")[0] == 1
    assert json.loads(holeshot("bag", "diff", flight, other, "--json")[1])["first"]["ulps"] == 2
    code, _, err = holeshot("bag", "diff", flight, other, "--ignore", "positon")
    assert code == 2
    assert "--ignore positon: is no topic and no field" in err


def test_cut_keeps_attachments_and_the_messages_asked_for(holeshot: Command, flight: Path, tmp_path: Path) -> None:
    part = tmp_path / "part.mcap"
    arguments = ["--from", "0.25", "--to", "0.5", "--topics", "truth,imu"]
    assert holeshot("bag", "cut", flight, part, *arguments)[:2] == (0, f"{part}: 500 messages of 2 topics\n")
    bag, whole = Bag.open(part), Bag.open(flight)
    assert bag.topics == ("imu", "truth")
    assert bag.attachments == whole.attachments
    kept = [m for m in whole.messages() if m.topic in bag.topics and 250_000_000 <= m.log_time < 500_000_000]
    assert [(m.topic, m.log_time, m.data) for m in bag.messages()] == [(m.topic, m.log_time, m.data) for m in kept]


def test_cut_refuses(holeshot: Command, flight: Path, tmp_path: Path) -> None:
    before = flight.read_bytes()
    for arguments, message in (
        ([flight], "exists already and is not overwritten"),
        ([tmp_path / "x.mcap", "--topics", "thruth"], "has no topic thruth; it has sim_config"),
        ([tmp_path / "x.mcap", "--from", "2", "--to", "1"], "--to greater than --from"),
        ([tmp_path / "none" / "x.mcap"], "does not exist"),
    ):
        code, _, err = holeshot("bag", "cut", flight, *arguments)
        assert code == 2
        assert message in err
    assert flight.read_bytes() == before
    assert not list(tmp_path.iterdir())


def test_a_cut_of_some_topics_is_proved_by_them(holeshot: Command, flight: Path, tmp_path: Path) -> None:
    part = tmp_path / "part.mcap"
    assert holeshot("bag", "cut", flight, part, "--topics", "truth,imu,estimate")[0] == 0
    code, out, _ = holeshot("bag", "verify", part, "--all")
    assert (code, out.splitlines()[0].partition(" (")[0]) == (0, "the whole run: identical")
    assert "a part of a bag: from 0 ns to the end, topics imu,truth,estimate" in holeshot("bag", "info", part)[1]


def test_recover_refuses_to_overwrite(holeshot: Command, flight: Path) -> None:
    code, _, err = holeshot("bag", "recover", flight, flight)
    assert code == 2
    assert "exists already and is not overwritten" in err


def test_export_to_csv_reads_back_exactly(holeshot: Command, flight: Path, tmp_path: Path) -> None:
    assert holeshot("bag", "export", flight, "--out", tmp_path, "--topics", "truth")[0] == 0
    with (tmp_path / "truth.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    channel = Bag.open(flight).channel("truth", record_dtype(TruthState))
    assert len(rows) == len(channel)
    assert [int(r["log_time_ns"]) for r in rows] == channel["log_time"].tolist()
    assert [float(r["position.z"]) for r in rows] == channel["data"]["position"]["z"].tolist()
    assert [float(r["rotor_speeds[3]"]) for r in rows] == channel["data"]["rotor_speeds"][:, 3].tolist()
    code, _, err = holeshot("bag", "export", flight, "--out", tmp_path, "--topics", "truth")
    assert code == 2
    assert "exists already and is not overwritten" in err


def test_a_field_called_sequence_is_not_the_number_in_the_bag(holeshot: Command, flight: Path, tmp_path: Path) -> None:
    assert holeshot("bag", "export", flight, "--out", tmp_path, "--topics", "camera")[0] == 0
    with (tmp_path / "camera.csv").open(newline="") as file:
        assert next(file).split(",")[:2] == ["log_time_ns", "log_sequence"]
        assert {"log_sequence", "sequence"} <= set(next(csv.DictReader((tmp_path / "camera.csv").open())))


def test_export_to_numpy(holeshot: Command, flight: Path, tmp_path: Path) -> None:
    code, out, _ = holeshot("bag", "export", flight, "--format", "npz", "--out", tmp_path / "new", "--json")
    assert code == 0
    files = json.loads(out)
    assert {"truth", "imu", "gates"} <= set(files)
    with np.load(files["truth"]) as table:
        channel = Bag.open(flight).channel("truth", record_dtype(TruthState))
        assert (table["velocity.x"] == channel["data"]["velocity"]["x"]).all()


def test_export_to_parquet(holeshot: Command, flight: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    assert holeshot("bag", "export", flight, "--format", "parquet", "--out", tmp_path, "--topics", "imu")[0] == 0
    table = parquet.read_table(tmp_path / "imu.parquet")
    assert table.num_rows == Bag.open(flight).counts["imu"]


def test_export_refuses(holeshot: Command, flight: Path, tmp_path: Path) -> None:
    code, _, err = holeshot("bag", "export", flight, "--format", "xls", "--out", tmp_path)
    assert (code, err) == (2, "holeshot: --format xls: valid: csv, parquet, npz\n")


def test_score_of_a_recorded_run(holeshot: Command, flight: Path) -> None:
    code, out, _ = holeshot("score", flight, flight, "--json")
    lines = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert len(lines) == 2
    assert lines[0]["seed"] == 1
    assert lines[0]["score"]["success"]
    assert lines[0]["score"]["duration_s"] == 1.25


def test_score_again_under_another_speed_limit(holeshot: Command, flight: Path) -> None:
    reached = json.loads(holeshot("score", flight, "--json")[1])["score"]["max_speed_m_s"]
    code, out, _ = holeshot("score", flight, "--speed-limit", reached + 0.01, "--json")
    assert (code, json.loads(out)["score"]["success"]) == (0, True)
    code, out, _ = holeshot("score", flight, "--speed-limit", reached - 0.01, "--json")
    found = json.loads(out)["score"]
    assert (code, found["success"], found["reason"]) == (1, False, "speed_limit")


@pytest.mark.parametrize(
    "arguments",
    [["info", "none.mcap"], ["verify", "none.mcap"], ["diff", "none.mcap", "none.mcap"], ["play", "none.mcap"]],
)
def test_a_bag_that_is_not_there(holeshot: Command, arguments: list[str]) -> None:
    assert holeshot("bag", *arguments) == (2, "", "holeshot: none.mcap: no such bag\n")
