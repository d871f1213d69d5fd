"""A node that somebody else runs owes what any node owes: the run ends with its name when it does not keep to it."""

import os
import re
import signal
import subprocess
import sys

import pytest

from graph.bag import Bag
from tests.process.session import ROOT, Flight

FILES = dict(
    re.findall(r"^```\w+\n# ([\w.]+)\n(.*?)^```", (ROOT / "docs/protocol.md").read_text(), re.MULTILINE | re.DOTALL)
)


@pytest.fixture
def folder(tmp_path):
    """The files of the documentation, of a longer flight."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text.replace("duration: 1.0", "duration: 60.0"))
    return tmp_path


def joined(folder, name, *changes):
    """The node from outside under a name of its own, which no other run here waits for, its program changed."""
    launch = folder / "outside.yaml"
    launch.write_text(launch.read_text().replace("{altimeter:", f"{{{name}:"))
    program = (folder / "join.py").read_text()
    for old, new in changes:
        assert old in program
        program = program.replace(old, new)
    (folder / "join.py").write_text(program)
    return subprocess.Popen([sys.executable, "join.py", name], cwd=folder, stderr=subprocess.DEVNULL)


def end_of(flight, node):
    try:
        return flight.end()
    finally:
        node.kill()
        node.wait()


def test_one_that_leaves(folder):
    bag = folder / "run.mcap"
    node = joined(folder, "leaver")
    flight = Flight("./outside.yaml", "--record", str(bag), "--rate", "2", cwd=folder)
    while not (bag.exists() and bag.stat().st_size > 50_000):
        flight.go_on()
    node.kill()
    code, _, err = end_of(flight, node)
    assert code == 3
    assert re.search(r"node leaver failed: it left the run at tick \d+ .*; it owed topic altitude", err), err
    assert Bag.open(bag).counts["altitude"] > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("tick_of(k), t // 10**9", "tick_of(k) - 50 * (k == 30), t // 10**9", "has messages of ticks"),
        ("tick_of(k + 1) - 1, 0, 1)", "2**62, 0, 1)", "promises tick 4611686018427387904"),
        (
            "tick_of(k + 1) - 1, 0, 1)",
            "tick_of(k + 1) - 1 - 50 * (k == 30), 0, 1)",
            "promises less than the one before",
        ),
        ('"<qq", end, -1)', '"<qq", end + 1000, -1)', "is granted"),
        ('"<qq", end, -1)', '"<qq", end, end - 1)', "ends the run at tick"),
    ],
    ids=range(5),
)
def test_one_that_sends_what_it_does_not_owe(folder, request, old, new, text):
    name = f"wrong{request.node.callspec.id}"
    node = joined(folder, name, (old, new))
    code, _, err = end_of(Flight("./outside.yaml", "--record", str(folder / "run.mcap"), cwd=folder), node)
    assert code == 3
    assert f"node {name} failed: its packets" in err
    assert text in err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_does_not_wait_for_one_that_never_comes(number, folder):
    flight = Flight("./outside.yaml", "--record", str(folder / "run.mcap"), cwd=folder)
    assert flight.process.stderr is not None
    assert any("waiting for node altimeter" in line for line in flight.process.stderr)
    flight.process.send_signal(number)
    assert flight.end(timeout=20)[0] == 130


def test_one_that_leaves_a_packet_out(folder):
    node = joined(folder, "skipper", ('"<qqqI", k,', '"<qqqI", k + (k > 50),'))
    code, _, err = end_of(Flight("./outside.yaml", "--record", str(folder / "run.mcap"), cwd=folder), node)
    assert code == 3
    assert re.search("node skipper failed: its packets( to recorder)?: packet 51 was lost, packet 52", err), err


@pytest.mark.parametrize("part", ["nodes.recorder", "nodes.clock", "nodes.scene"])
def test_only_a_node_that_steps_can_be_external(part, folder):
    (folder / "outside.yaml").write_text(
        f"name: outside\ninclude: [{{launch: sitl}}]\nnodes: {{part: {{node: {part}, external: true}}}}\n"
    )
    code, _, err = Flight("./outside.yaml", cwd=folder).end()
    assert code == 2
    assert err == f"holeshot: launch outside: nodes.part.external: {part} is no node that steps\n"


def test_the_bag_does_not_say_who_ran_it(folder):
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{folder}"}
    command = [sys.executable, "-c", "from tools.cli import main; main()"]
    record = [*command, "launch", "./outside.yaml", "--runner", "inline", "--record", "run.mcap"]
    (folder / "outside.yaml").write_text(FILES["outside.yaml"])
    assert subprocess.run(record, cwd=folder, env=environment, check=False).returncode == 0
    assert b"external" not in Bag.open(folder / "run.mcap").attachments["launch.yaml"]
    verify = [*command, "bag", "verify", "run.mcap", "--node", "altimeter", "--trust"]
    assert subprocess.run(verify, cwd=folder, env=environment, check=False).returncode == 0
