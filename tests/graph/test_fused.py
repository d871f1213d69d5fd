"""The compiled loop says what the interpreted one says, byte for byte; edited code is never served stale."""

import copy
import os
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from graph.errors import InputError
from graph.execution import Execution
from graph.fused import FusedLoop, FusedRun, check
from graph.inline import InlineRun
from graph.run import prepare, run
from tests.graph.test_inline import stamps
from tests.graph.toys.graphs import pair
from tools.session import load

EVERY_FAULT = """
name: every-fault
vehicle: rp-1
course: a2rl-2025
baseline: scripted-hop
duration_s: 4
seed: 3
randomization: {mass_fraction: 0.05, start_xy_m: 0.2, start_yaw_rad: 0.05}
faults:
  - {kind: camera_corrupt, probability: 0.2}
  - {kind: camera_blackout, start_s: 1, end_s: 1.5, start_jitter_s: 0.2}
  - {kind: imu_bias_step, start_s: 0.5, gyro_bias_rad_s: [0.02, -0.01, 0.015], accel_bias_m_s2: [0.1, -0.2, 0.3]}
  - {kind: command_delay, start_s: 0.7, end_s: 2.2, delay_s: 0.021}
  - {kind: link_loss, start_s: 2.4, end_s: 2.5}
  - {kind: motor_scale, start_s: 2.8, rotor: 2, thrust_fraction: 0.8}
"""


def recorded(path: Path, runner: str, *arguments: str) -> bytes:
    session, _ = load("sitl", arguments)
    run(session, Execution(runner=runner, bag=str(path)))
    return path.read_bytes()


@pytest.mark.parametrize(
    "scenario", ["null-pad", pytest.param("scripted-hop", marks=pytest.mark.slow), "b0-determinism"]
)
def test_the_bag_is_that_of_the_inline_runner(tmp_path, scenario):
    arguments = [f"scenario={scenario}", "duration=3"]
    assert recorded(tmp_path / "a.mcap", "fused", *arguments) == recorded(tmp_path / "b.mcap", "inline", *arguments)


@pytest.mark.slow
def test_with_every_fault_the_bag_is_that_of_the_inline_runner(tmp_path):
    scenario = tmp_path / "every-fault.yaml"
    scenario.write_text(EVERY_FAULT)
    fused = recorded(tmp_path / "a.mcap", "fused", f"scenario={scenario}")
    assert fused == recorded(tmp_path / "b.mcap", "inline", f"scenario={scenario}")


def test_a_whole_nominal_flight_has_the_bag_of_the_inline_runner(tmp_path):
    fused = recorded(tmp_path / "a.mcap", "fused", "scenario=b0-nominal", "seed=7")
    assert fused == recorded(tmp_path / "b.mcap", "inline", "scenario=b0-nominal", "seed=7")


@pytest.mark.parametrize("window", [1, 7, 46, 1000])
def test_windows_change_nothing(window):
    graph = pair(counter_hz=90, summer_hz=250, latency_ns=3_300_000)
    said = {}
    for kind in (InlineRun, FusedRun):
        parts: dict[str, list[bytes]] = {t.name: [] for t in graph.topics}

        def take(end, logs, parts=parts):
            for name, log in logs.items():
                parts[name].append(log.tobytes())

        kind(graph, window if kind is FusedRun else 500).run(2000, take)
        said[kind] = {name: b"".join(part) for name, part in parts.items()}
    assert said[FusedRun] == said[InlineRun]


def test_a_stop_completes_its_tick_and_nothing_more():
    graph = pair(limit=10.0)
    last: dict[str, Any] = {}
    end = FusedRun(graph, 100).run(1000, lambda end, logs: last.update(logs))
    assert end == InlineRun(graph, 100).run(1000, lambda end, logs: None) == 5
    assert stamps(last["total"])[-1] == 4_000_000


def test_a_node_of_plain_python_is_refused_by_name():
    instance = pair().instances[1]
    plain = copy.copy(instance.node)
    plain.python = True
    with pytest.raises(InputError) as caught:
        check(replace(pair(), instances=(replace(instance, node=plain),)))
    assert str(caught.value) == (
        "node summer (tests.graph.toys.summer.summer) is plain Python, which runner fused cannot compile; "
        "use --runner process or inline"
    )


def test_a_launch_with_a_plain_python_node_is_refused_before_anything_starts():
    session, _ = load("tests/process/zoo/zoo.yaml")
    with pytest.raises(InputError, match=r"^node culprit .* is plain Python"):
        prepare(session, "fused")


def test_progress_names_every_node_and_the_loop():
    session, _ = load("sitl", ["scenario=null-pad"])
    names: list[str] = []
    prepare(session, "fused", names.append)
    assert names == [*(i.name for i in session.graph.instances), "loop"]


def test_the_loop_is_compiled_once_and_then_found_in_the_cache():
    session, _ = load("sitl", ["scenario=null-pad"])
    prepare(session, "fused")
    loop = FusedLoop(session.graph)
    loop.compile()
    assert loop.dispatcher.stats.cache_misses == {}
    assert sum(loop.dispatcher.stats.cache_hits.values()) == 1


PACKAGE = {
    "__init__.py": "",
    "inner.py": """
        from blocks.kernel import inlined

        @inlined
        def factor(x):
            return 2.0 * x
    """,
    "outer.py": """
        from blocks.kernel import inlined
        from probe.inner import factor

        @inlined
        def scaled(x):
            return factor(x) + 1.0
    """,
    "source.py": """
        from typing import NamedTuple

        from graph.node import Setup, node
        from probe.outer import scaled
        from tests.graph.toys.message import Number

        class Params(NamedTuple):
            gain: float

        class State(NamedTuple):
            steps: int

        class Out(NamedTuple):
            number: Number

        @node
        def source(p: Params, s: State, t: int) -> tuple[State, Out]:
            return State(s.steps + 1), Out(number=Number(stamp=t, value=scaled(p.gain)))
    """,
    "run.py": """
        import sys

        from graph.fused import FusedRun
        from graph.inline import InlineRun
        from graph.node import Setup
        from graph.wiring import Instance, connect
        from probe.source import Params, State, source

        setup = Setup(Params(10.0), State(0), 1000)
        graph = connect([Instance("source", source, setup, {}, {"number": "number"})], 1_000_000)
        kind = {"fused": FusedRun, "inline": InlineRun}[sys.argv[1]]
        kind(graph, 10).run(10, lambda end, logs: print(logs["number"]["data"]["value"][-1]))
    """,
}


@pytest.mark.parametrize("runner", ["fused", "inline"])
def test_editing_the_callee_of_a_callee_changes_what_runs(tmp_path, runner):
    package = tmp_path / "probe"
    package.mkdir()
    for name, text in PACKAGE.items():
        (package / name).write_text(textwrap.dedent(text))

    def flown() -> float:
        path = os.pathsep.join([str(tmp_path), str(Path(__file__).parents[2])])
        environment = {**os.environ, "PYTHONPATH": path, "XDG_CACHE_HOME": str(tmp_path / "cache")}
        command = [sys.executable, "-m", "probe.run", runner]
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return float(done.stdout)

    assert flown() == 21.0
    assert flown() == 21.0
    inner = package / "inner.py"
    inner.write_text(inner.read_text().replace("2.0 * x", "3.0 * x"))
    assert flown() == 31.0
