"""`holeshot graph`: every node, port, topic, type and latency of a launch file, as text, Mermaid, JSON and source."""

import json

import pytest

from graph.wrapping import WIDTH, wrapped
from tools.session import load

NODES = ["fault_injector", "simulator", "imu", "camera_oracle", "stack", "sim_fc", "scorer"]


def test_the_listing_names_every_node_with_its_rate_and_ports(holeshot):
    code, out, _ = holeshot("graph", "sitl")
    assert code == 0
    heads = [
        line.split()[0] for line in out.splitlines() if line and not line.startswith((" ", "sitl:", "not stepped"))
    ]
    assert heads == NODES
    assert "camera_oracle  (nodes.camera_oracle.camera_oracle, 90 Hz)" in out
    assert "-> imu: ImuSample  1 ms late, to stack, sim_fc" in out
    assert "<- rotor_command: RotorCommand  the newest, and how many are new, one tick later" in out
    assert "recorder  (nodes.recorder)" in out


def test_the_chart_has_an_arrow_for_every_edge(holeshot):
    _, out, _ = holeshot("graph", "sitl", "--mermaid")
    session, _ = load("sitl")
    first, *lines = out.splitlines()
    assert first == "flowchart LR"
    arrows = [line for line in lines if "-->" in line or "-.->" in line]
    assert len(arrows) == sum(len(topic.subscribers) for topic in session.graph.topics)
    assert '    sim_fc -.->|"rotor_command"| simulator' in arrows
    assert '    imu -->|"imu, 1 ms"| stack' in arrows


def test_the_object_has_what_the_graph_has(holeshot):
    _, out, _ = holeshot("graph", "sitl", "scenario=scripted-hop", "--json")
    found = json.loads(out)
    session, _ = load("sitl", ["scenario=scripted-hop"])
    assert [node["name"] for node in found["nodes"]] == NODES
    assert [topic["name"] for topic in found["topics"]] == [topic.name for topic in session.graph.topics]
    rotor_command = next(topic for topic in found["topics"] if topic["name"] == "rotor_command")
    assert rotor_command["listeners"] == [{"node": "simulator", "port": "rotor_command", "delayed": True}]


def test_the_source_is_python_with_the_loop_and_every_entry(holeshot):
    _, out, _ = holeshot("graph", "sitl", "--source")
    compile(out, "generated", "exec")
    assert out.count("def run(") == 1
    assert out.count("def step(") == len(NODES)
    assert "if tick % 4 == 0:  # stack, 250 Hz" in out


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("sitle",), "unknown launch file 'sitle'; did you mean sitl?"),
        (("sitl", "laps=2"), "unknown argument 'laps'"),
        (("sitl", "--mermaid", "--json"), "exclude each other"),
    ],
)
def test_bad_input_is_named(holeshot, arguments, text):
    code, _, err = holeshot("graph", *arguments)
    assert code == 2
    assert text in err


def test_long_lines_are_broken_and_mean_the_same():
    values = ", ".join(f"field_{i}=record['position'][{i}]" for i in range(20))
    line = f"s = Outer(inner=Inner({values}), other=(1, 2, 3), name=f(x)[0])"
    parts = wrapped([line])
    assert max(map(len, parts)) <= WIDTH
    assert "".join("".join(parts).split()).replace(",)", ")") == "".join(line.split())


def test_short_lines_stay_as_they_are():
    assert wrapped(["a = f(b, c)", "", "    return a"]) == ["a = f(b, c)", "", "    return a"]
