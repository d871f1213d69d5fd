"""Whoever is outside finds a running session, hears its topics, and decodes them from what the register says."""

import itertools
import json
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from graph.process import register
from tests.tools.command import holeshot
from tests.tools.runs import record

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """A run in processes, held back to real time."""
    bag = tmp_path_factory.mktemp("topic") / "run.mcap"
    command = [sys.executable, "-c", "from tools.cli import main; main()", "launch", "sitl", "--no-viewer"]
    with subprocess.Popen([*command, "--rate", "1", "--record", str(bag)], stdout=subprocess.PIPE, cwd=ROOT) as process:
        try:
            yield _entry(process)
        finally:
            process.terminate()
            process.wait(timeout=30)


def _entry(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        for entry in register.running():
            if entry["pid"] == process.pid:
                return entry
        time.sleep(0.1)
    raise AssertionError(f"the session is not in the register; exit code {process.poll()}")


def run_of(session: dict[str, Any], *arguments: str) -> subprocess.CompletedProcess[str]:
    return holeshot("topic", *arguments, "--run", session["run"])


def test_list_shows_every_topic_with_its_wiring(session: dict[str, Any]) -> None:
    found = json.loads(run_of(session, "list", "--json").stdout)
    topics = {t["name"]: t for t in found["topics"]}
    assert found["scenario"] == "b0-nominal"
    assert (topics["truth"]["publisher"], topics["truth"]["rate_hz"]) == ("simulator", 1000)
    assert topics["truth"]["subscribers"] == ["camera_oracle", "imu", "scorer", "stack"]
    assert topics["imu"]["latency_ms"] == 1.0
    assert "TruthState" in run_of(session, "list").stdout


def test_echo_prints_messages(session: dict[str, Any]) -> None:
    lines = run_of(session, "echo", "truth", "--count", "3", "--json").stdout.splitlines()
    stamps = [json.loads(line)["header"]["stamp"] for line in lines]
    times = [s["sec"] * 1_000_000_000 + s["nanosec"] for s in stamps]
    assert [b - a for a, b in itertools.pairwise(times)] == [1_000_000, 1_000_000]
    text = run_of(session, "echo", "truth", "-n", "1").stdout
    assert "  stamp:\n    sec: " in text
    assert text.endswith(("on_ground: false\n---\n", "on_ground: true\n---\n"))


def test_hz_measures_simulated_rates(session: dict[str, Any]) -> None:
    found = {m["topic"]: m for m in json.loads(run_of(session, "hz", "--seconds", "1", "--json").stdout)}
    assert found["truth"]["hz_simulated"] == pytest.approx(1000)
    assert found["estimate"]["hz_simulated"] == pytest.approx(250)
    assert found["camera"]["hz_simulated"] == pytest.approx(90, rel=0.05)
    assert found["motors"] == {"topic": "motors", "messages": 0, "hz_simulated": None, "hz_wall": 0.0}


def test_bw_measures_bytes(session: dict[str, Any]) -> None:
    [found] = json.loads(run_of(session, "bw", "truth", "--seconds", "0.5", "--json").stdout)
    assert found["bytes_per_message"] == 4 + 153


def test_options_of_a_live_graph_are_refused_without_it() -> None:
    done = holeshot("graph", "sitl", "--seconds", "1")
    assert done.returncode == 2
    assert "--run and --seconds are of --live" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("echo", "trut"), "has no topic trut; did you mean truth?; topics: sim_config, faults"),
        (("hz", "imu", "nothing"), "has no topic nothing"),
    ],
)
def test_an_unknown_topic_is_named_with_the_valid_ones(session: dict[str, Any], arguments: Any, error: str) -> None:
    done = run_of(session, *arguments)
    assert done.returncode == 2
    assert error in done.stderr


def test_an_unknown_run_is_named_with_those_there_are(session: dict[str, Any]) -> None:
    done = holeshot("topic", "list", "--run", "nonsense")
    assert done.returncode == 2
    assert "--run nonsense: no such run" in done.stderr
    assert session["run"] in done.stderr


def test_the_live_graph_measures_rate_and_latency_of_every_edge(session: dict[str, Any]) -> None:
    done = holeshot("graph", "--live", "--run", session["run"], "--seconds", "1", "--json")
    edges = {(e["from"], e["topic"], e["to"]): e for e in json.loads(done.stdout)["edges"]}
    assert edges["imu", "imu", "stack"]["hz_simulated"] == pytest.approx(1000, rel=0.05)
    assert edges["simulator", "truth", "recorder"]["hz_simulated"] == pytest.approx(1000, rel=0.05)
    assert all(e["latency_us"] > 0.0 for e in edges.values() if e["hz_wall"] > 0.0)
    assert edges["imu", "imu", "stack"]["configured_latency_ms"] == 1.0
    assert edges["sim_fc", "rotor_command", "simulator"]["configured_latency_ms"] == 1.0
    assert edges["stack", "thrust_rates", "sim_fc"]["configured_latency_ms"] == 0.0
    assert "latency us" in holeshot("graph", "--live", "--run", session["run"], "--seconds", "0.2").stdout


def examples() -> dict[str, str]:
    """The programs of the documentation by name."""
    text = (ROOT / "docs" / "outside.md").read_text()
    return {code.split()[1].rstrip(":"): code for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL)}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("listen.py", r"holeshot/\w+/truth 157 bytes"),
        ("decode.py", r"\d+ -?\d+\.\d\d -?\d+\.\d\d -?\d+\.\d\d"),
        ("steer.py", r"step \{'ok': True, 'tick': \d+"),
    ],
)
def test_the_programs_of_the_documentation_do_what_they_say(
    session: dict[str, Any], name: str, said: str, tmp_path: Path
) -> None:
    code = examples()[name]
    assert code.count("\n") <= 15
    # Other sessions may run on this machine: this one alone is in the example's home.
    runs = tmp_path / ".cache" / "holeshot" / "runs"
    runs.mkdir(parents=True)
    (runs / "run.json").write_text(json.dumps(session))
    environment = {**os.environ, "HOME": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        lines = ""
        for line in process.stdout:
            lines += line
            if re.search(said, lines):
                break
        process.kill()
        assert process.stderr is not None
        assert re.search(said, lines), process.stderr.read()


def test_a_bag_is_read_without_ros_as_documented(tmp_path: Path) -> None:
    bag = record(tmp_path / "run.mcap", "duration=0.5")
    done = subprocess.run(
        [sys.executable, "-c", examples()["read.py"], str(bag)], capture_output=True, text=True, check=True
    )
    assert "truth 501\n" in done.stdout


def test_a_session_that_is_gone_is_not_in_the_register(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(register, "register", lambda: tmp_path)
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        pass
    (tmp_path / "gone.json").write_text(json.dumps({"run": "gone", "pid": ended.pid, "host": platform.node()}))
    (tmp_path / "elsewhere.json").write_text(json.dumps({"run": "there", "pid": ended.pid, "host": "another"}))
    (tmp_path / "garbage.json").write_text("{")
    assert register.running() == []
    assert not (tmp_path / "gone.json").exists()
    assert (tmp_path / "elsewhere.json").exists()
