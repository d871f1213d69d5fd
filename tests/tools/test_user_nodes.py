"""A mistake in a user's own node is said in a line that names the node, the reason and, if there is one, the place."""

import re

import pytest

from tests.tools.command import ROOT, holeshot

DOCUMENT = (ROOT / "docs/writing-a-node.md").read_text()


@pytest.fixture
def folder(tmp_path):
    """The node and the launch file of the document."""
    for text in re.findall(r"^```(?:python|yaml)\n(.*?)^```", DOCUMENT, re.MULTILINE | re.DOTALL):
        named = re.match(r"# ([\w./-]+)\n", text)
        if named:
            (tmp_path / named[1]).parent.mkdir(exist_ok=True)
            (tmp_path / named[1]).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("> p.limit", "> p.limt", "does not compile: Unknown attribute 'limt' of type Params"),
        ("thrust = p.limit", "thrust = math.sqrt(p.limit)", "does not compile: .*'math'"),
        (
            "thrust = p.limit",
            "thrust = float(len(str(t)))",
            r"found for signature: str\(int64\) \(my_team/thrust_cap.py:",
        ),
        ("State(0)", 'State("a")', "node cap: configure: state is no State: invalid literal"),
        ("rate_hz=context.world.baseline.control_rate_hz", 'rate_hz="x"', "rate_hz: 'x' is not a whole number"),
        (
            "    return Setup",
            '    raise ValueError("boo")\n    return Setup',
            "fails: ValueError: boo .*cap.py:",
        ),
        ("import NamedTuple", "import NamedTuple2", "node cap: module my_team.thrust_cap .*NamedTuple2"),
        ("wanted: New[ThrustRates]", "wanted", "thrust_cap does not say of which type its wanted is"),
        ("@node", "raise SystemExit(0)\n@node", "node cap: module my_team.thrust_cap fails .*SystemExit: 0"),
        ("State(0), rate", "State(0), latency_ns={'cap': 5}, rate", "latency_ns: no output cap; .*outputs: capped"),
        ("State(0), rate", "State(0), latency_ns={'capped': 10**18}, rate", "latency_ns of capped: 1.* more than 60 s"),
        ("@node", "@node(", "node cap: module my_team.thrust_cap fails to import: SyntaxError"),
    ],
)
def test_a_mistake(folder, old, new, message):
    file = folder / "my_team/thrust_cap.py"
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new, 1))
    run = holeshot("launch", "./capped.yaml", "--runner", "inline", "--record", "run.mcap", cwd=folder)
    assert run.returncode == 2, run.stderr
    (line,) = [line for line in run.stderr.splitlines() if line.startswith("holeshot: ")]
    assert re.search(message, line), line
    assert "Traceback" not in run.stderr
    assert not (folder / "run.mcap").exists()


def test_a_plain_python_node_that_exits_is_a_failure_in_one_process_too(folder):
    file = folder / "my_team/thrust_cap.py"
    text = file.read_text().replace("@node", "@node(python=True)")
    file.write_text(text.replace("    command = wanted.last", "    raise SystemExit(0)"))
    run = holeshot("launch", "./capped.yaml", "--runner", "inline", "--record", "run.mcap", cwd=folder)
    assert run.returncode == 3
    assert "node cap failed: SystemExit: 0 at tick 0" in run.stderr


@pytest.mark.parametrize(
    ("runner", "text"),
    [
        ("process", "node cap failed: ValueError: too hot at tick 500 (0.500 s simulated)"),
        ("inline", "node cap failed: ValueError: too hot at tick 500 (0.500 s simulated)"),
        ("fused", "node of the loop failed: ValueError: too hot (runner inline tells which node and when) at tick 0"),
    ],
)
def test_a_kernel_that_raises_is_a_failure_in_every_runner(folder, runner, text):
    file = folder / "my_team/thrust_cap.py"
    raising = '    if t >= 500_000_000:\n        raise ValueError("too hot")\n    command = wanted.last'
    file.write_text(file.read_text().replace("    command = wanted.last", raising))
    run = holeshot("launch", "./capped.yaml", "--runner", runner, "--record", "run.mcap", cwd=folder)
    assert run.returncode == 3, run.stderr
    assert text in run.stderr
    assert (folder / "run.mcap").exists()
