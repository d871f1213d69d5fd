"""A batch: the same scores on any number of threads and on Ray, statistics, thresholds, sweeps, resumption."""

import fcntl
import gc
import json
import math
import os
import re
import resource
import signal
import subprocess
import sys
import tracemalloc
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph.bag import Bag
from graph.batch import Cancelled, Pool
from graph.errors import InputError
from graph.run import RUNNERS
from tests.tools.command import ROOT
from tools.batch.case import MEMORIES, Case
from tools.batch.store import Store
from tools.batch.summary import clopper_pearson, incomplete_beta, percentile, summary
from tools.session import load

HOP = "scripted-hop"


def lines(text: str) -> list[dict]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("course", ["a2rl-2025", "a2rl-2025-split-s"])
def test_b0_flies_ten_of_ten_seeds(holeshot, course):
    code, out, _ = holeshot("batch", "b0-nominal", f"course={course}", "--seeds", 10, "--min-success", 1.0, "--json")
    *runs, last = lines(out)
    assert code == 0
    assert [run["seed"] for run in runs] == list(range(1, 11))
    assert all(run["score"]["success"] and len(run["score"]["lap_time"]) == 2 for run in runs)
    assert last["summary"]["succeeded"] == 10
    assert last["summary"]["max_speed_m_s"] <= 5.0


@pytest.mark.slow
def test_gate_p1_at_least_99_percent_of_500_seeds(holeshot):
    code, out, _ = holeshot("batch", "b0-nominal", "--seeds", 500, "--min-success", 0.99, "--json")
    assert code == 0
    assert lines(out)[-1]["summary"]["succeeded"] >= 495


def test_the_number_of_threads_changes_nothing(holeshot):
    command = ("batch", "b0-determinism", "--seeds", 12, "--first-seed", 5, "--json", "--jobs")
    alone = holeshot(*command, 1)
    assert holeshot(*command, 3)[1] == alone[1]
    assert [run["seed"] for run in lines(alone[1])[:-1]] == list(range(5, 17))


@pytest.mark.parametrize("runner", RUNNERS)
def test_the_score_of_a_seed_is_that_of_its_launch(holeshot, tmp_path, runner):
    launch = holeshot(
        "launch",
        "sitl",
        "scenario=b0-determinism",
        "seed=4",
        "--runner",
        runner,
        "--record",
        tmp_path / "a.mcap",
        "--json",
    )
    batch = holeshot("batch", "b0-determinism", "--seeds", 1, "--first-seed", 4, "--json")
    assert lines(batch[1])[0]["score"] == lines(launch[1])[-1]["score"]


def test_memory_does_not_grow_with_the_number_of_seeds():
    session, world = load("sitl", ["scenario=scripted-hop", "duration=0.2"])
    case = Case(session.launch, world, {})
    seat = MEMORIES.of(case.compiled)
    case.fly(1)
    tracemalloc.start()
    for seed in range(3):
        case.fly(seed)
    gc.collect()
    few = tracemalloc.get_traced_memory()[0]
    for seed in range(100):
        case.fly(seed)
    gc.collect()
    many = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert MEMORIES.of(case.compiled) is seat
    assert many - few < 50_000


def test_below_the_threshold_the_exit_code_is_1_and_failed_runs_are_recorded(holeshot, tmp_path):
    command = ("batch", "b0-nominal", "duration=5", "--seeds", 3, "--keep-bags", 2, "--out", tmp_path / "out")
    code, out, err = holeshot(*command, "--min-success", 0.5)
    assert code == 1
    assert "0 of 3" in out
    assert "timeout" in out
    bags = sorted((tmp_path / "out" / "bags").iterdir())
    assert [bag.name for bag in bags] == ["b0-nominal-seed1-failed.mcap", "b0-nominal-seed2-failed.mcap"]
    assert Bag.open(bags[1]).metadata["run"]["seed"] == "2"
    assert "1 more failed" in err
    assert holeshot(*command)[0] == 0


def test_two_batches_do_not_write_to_one_folder(holeshot, tmp_path):
    assert holeshot("batch", HOP, "--seeds", 1, "--out", tmp_path / "out")[0] == 0
    before = (tmp_path / "out/runs.jsonl").read_bytes()
    handle = os.open(tmp_path / "out", os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)  # as the other does
    code, _, err = holeshot("batch", HOP, "--seeds", 2, "--out", tmp_path / "out")
    os.close(handle)
    assert (code, err.splitlines()[-1]) == (
        2, f"holeshot: --out {tmp_path / 'out'}: another batch is writing to it, name another folder"
    )  # fmt: skip
    assert (tmp_path / "out/runs.jsonl").read_bytes() == before


def test_a_stopped_batch_goes_on_where_it_stopped(holeshot, tmp_path):
    whole = tmp_path / "whole"
    _, out, _ = holeshot("batch", HOP, "--seeds", 6, "--out", whole, "--json")
    half = tmp_path / "half"
    holeshot("batch", HOP, "--seeds", 3, "--out", half)
    # As a batch that was killed in the middle of a line leaves it.
    with (half / "runs.jsonl").open("a") as file:
        file.write('{"seed": 4, "sco')
    code, again, _ = holeshot("batch", HOP, "--seeds", 6, "--out", half, "--json")
    assert code == 0
    assert again == out
    assert (half / "runs.jsonl").read_text() == (whole / "runs.jsonl").read_text()
    # Results on disk are not flown again: an edited one comes back edited.
    edited = (half / "runs.jsonl").read_text().replace('"seed": 1,', '"seed": 1, "note": "kept",', 1)
    (half / "runs.jsonl").write_text(edited)
    assert lines(holeshot("batch", HOP, "--seeds", 1, "--out", half, "--json")[1])[0]["note"] == "kept"


@pytest.mark.parametrize(
    ("arguments", "what"),
    [(("--seeds", 3, "--randomization", 2), "configuration"), (("baseline=null", "--seeds", 3), "configuration")],
)
def test_a_folder_of_another_batch_is_refused(holeshot, tmp_path, arguments, what):
    assert holeshot("batch", HOP, "--seeds", 1, "--out", tmp_path / "out")[0] == 0
    code, _, err = holeshot("batch", HOP, *arguments, "--out", tmp_path / "out")
    assert code == 2
    assert f"holds a batch of another {what}" in err


def test_a_folder_that_holds_something_else_is_refused(holeshot, tmp_path):
    (tmp_path / "thesis.tex").write_text("")
    code, _, err = holeshot("batch", HOP, "--seeds", 1, "--out", tmp_path)
    assert code == 2
    assert "is not empty and holds no batch" in err


def test_ctrl_c_keeps_what_is_done(tmp_path):
    out = tmp_path / "out"
    batch = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "from tools.cli import main; main()",
            "batch",
            HOP,
            "--seeds",
            "100000",
            "--json",
            "--out",
            out,
        ],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert batch.stdout is not None
    assert batch.stderr is not None
    first = [batch.stdout.readline() for _ in range(5)]
    batch.send_signal(signal.SIGINT)
    rest, err = batch.stdout.read(), batch.stderr.read()
    batch.wait()
    assert batch.returncode == 130
    assert "stopped after" in err
    *runs, last = lines("".join(first) + rest)
    kept = lines((out / "runs.jsonl").read_text())
    assert last["summary"]["runs"] == len(runs)
    assert [run["seed"] for run in runs] == list(range(1, len(runs) + 1))
    assert kept[: len(runs)] == runs


def test_ctrl_c_while_failed_runs_are_recorded_stops_and_says_so(tmp_path):
    command = (
        "batch",
        "b0-nominal",
        "duration=2",
        "--seeds",
        "40",
        "--keep-bags",
        "40",
        "--out",
        str(tmp_path / "out"),
    )
    batch = subprocess.Popen(
        [sys.executable, "-c", "from tools.cli import main; main()", *command, "--min-success", "0.5"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert batch.stderr is not None
    while not batch.stderr.readline().startswith("failed: seed 1;"):
        assert batch.poll() is None
    batch.send_signal(signal.SIGINT)
    _, err = batch.communicate()
    assert batch.returncode == 130
    assert re.search(r"stopped after recording \d+ of 40 failed runs", err)


def test_results_that_the_disk_does_not_take_are_an_input_error(tmp_path):
    session, world = load("sitl", [f"scenario={HOP}", "duration=0.2"])
    out = tmp_path / "out"
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Store(out, [Case(session.launch, world, {})]) as store:
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (10, limit[1]))
            with pytest.raises(InputError) as caught:
                store.add({"seed": 1, "score": None})
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert str(caught.value) == f"--out {out}: file too large"


def test_a_place_for_results_that_is_none_is_an_input_error(holeshot, tmp_path):
    out = tmp_path / "out"
    assert holeshot("batch", HOP, "duration=0.2", "--seeds", 1, "--out", out)[0] == 0
    (out / "runs.jsonl").unlink()
    (out / "runs.jsonl").symlink_to(tmp_path / "nowhere" / "runs.jsonl")
    code, _, err = holeshot("batch", HOP, "duration=0.2", "--seeds", 1, "--out", out)
    assert (code, err.splitlines()[-1]) == (2, f"holeshot: --out {out}: no such file or directory")


def test_results_that_are_no_text_are_flown_again(holeshot, tmp_path):
    out = tmp_path / "out"
    assert holeshot("batch", HOP, "duration=0.2", "--seeds", 1, "--out", out)[0] == 0
    (out / "runs.jsonl").write_bytes(b"\xff\xfe\n")
    assert holeshot("batch", HOP, "duration=0.2", "--seeds", 1, "--out", out)[0] == 0


def test_parameters_are_swept_in_every_combination(holeshot):
    sets = ("--set", "baseline.cruise_speed_m_s=3,4", "--set", "vehicle.mass=0.9:1.1:3")
    code, out, _ = holeshot("batch", "b0-determinism", "--seeds", 2, *sets, "--json")
    runs = [line for line in lines(out) if "score" in line]
    summaries = [line for line in lines(out) if "summary" in line]
    assert code == 0
    wanted = [(cruise, mass) for cruise in (3, 4) for mass in (0.9, 1.0, 1.1)]
    names = ("baseline.parameters.cruise_speed_m_s", "vehicle.mass_kg")
    assert [tuple(line["set"][n] for n in names) for line in summaries] == wanted
    assert [(tuple(r["set"][n] for n in names), r["seed"]) for r in runs] == [(w, s) for w in wanted for s in (1, 2)]
    # What is set is flown: slower at the lower cruise speed.
    fastest = [line["summary"]["max_speed_m_s"] for line in summaries]
    assert max(fastest[:3]) < min(fastest[3:])


def test_a_sweep_prints_a_line_per_combination(holeshot):
    code, out, _ = holeshot("batch", HOP, "--seeds", 1, "--set", "vehicle.mass=0.9,1.1")
    assert code == 0
    assert "mass_kg" in out
    assert out.count("1 of 1") == 2


def test_the_randomization_can_be_doubled(holeshot):
    def spread(factor: float) -> float:
        _, out, _ = holeshot("batch", HOP, "--seeds", 8, "--randomization", factor, "--json")
        speeds = [run["score"]["max_speed_m_s"] for run in lines(out)[:-1]]
        return max(speeds) - min(speeds)

    assert spread(0) < spread(1) < spread(2)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("nominal",), "unknown scenario 'nominal'"),
        (("b0-nominal", "seed=3"), "the seed as --first-seed"),
        (("b0-nominal", "laps=3"), "unknown argument 'laps'"),
        (("b0-nominal", "--set", "vehicle.mas=1"), "vehicle has no mas; did you mean mass_kg?; valid: name, mass_kg"),
        (("b0-nominal", "--set", "craft.mass=1"), "valid: scenario, vehicle, course, baseline"),
        (("b0-nominal", "--set", "vehicle.rotor=1"), "is a group; name one of its keys: thrust_coefficient"),
        (("b0-nominal", "--set", "scenario.seed=1,2"), "scenario.seed: seeds are given with --seeds and --first-seed"),
        (("b0-nominal", "--set", "vehicle.mass"), "write it as KIND.KEY=VALUES"),
        (("b0-nominal", "--set", "vehicle.mass=1", "--set", "vehicle.mass_kg=2"), "vehicle.mass_kg: is given twice"),
        (("b0-nominal", "--set", "vehicle.mass=1:2:1"), "the count between 2 and 1000"),
        (("b0-nominal", "--set", "vehicle.mass=heavy"), "mass_kg: is the text 'heavy'; must be a number"),
        (("b0-nominal", "--set", "vehicle.mass=-1"), "mass_kg: is -1; must be greater than 0"),
        (("b0-nominal", "--randomization", "-1"), "--randomization -1: must be a number of at least 0"),
        (("b0-nominal", "--launch", "tests/process/zoo/zoo.yaml"), ""),
        (("b0-nominal", "--plot", "laps.gif"), "a picture is a file .svg, .png, .pdf"),
        (("b0-nominal", "--report", "laps.pdf"), "a report is a file .html"),
        (("b0-nominal", "--plot", "nowhere/laps.svg"), "there is no folder nowhere"),
    ],
)
def test_bad_input_is_named_before_anything_flies(holeshot, arguments, text):
    code, out, err = holeshot("batch", *arguments)
    assert code == 2
    assert text in err
    assert out == ""


def test_results_come_in_order_and_a_cancelled_item_gives_up():
    asked: list[int] = []

    def work(item: int, cancelled) -> int:
        asked.append(item)
        if item > 5:
            while not cancelled():
                pass
            raise Cancelled
        return -item

    got = []
    for item, result in Pool(work, 2).results(range(1000)):
        got.append((item, result))
        if item == 5:
            break
    assert got == [(i, -i) for i in range(6)]
    assert max(asked) < 12


def test_an_error_in_a_run_ends_the_batch():
    def work(item: int, cancelled) -> int:
        raise InputError("no")

    with pytest.raises(InputError):
        list(Pool(work, 2).results(range(10)))


@settings(max_examples=60)
@given(st.integers(1, 40), st.data())
def test_the_interval_is_clopper_and_pearsons(runs, data):
    good = data.draw(st.integers(0, runs))
    low, high = clopper_pearson(good, runs)
    # By definition: at the lower end, this many or more have a chance of 2.5 %; at the upper end, this many or fewer.
    assert (low == 0.0) if good == 0 else math.isclose(1 - at_most(good - 1, runs, low), 0.025, rel_tol=1e-9)
    assert (high == 1.0) if good == runs else math.isclose(at_most(good, runs, high), 0.025, rel_tol=1e-9)


def at_most(good: int, runs: int, rate: float) -> float:
    p = Fraction(rate)
    return float(sum(math.comb(runs, k) * p**k * (1 - p) ** (runs - k) for k in range(good + 1)))


@pytest.mark.parametrize(
    ("good", "runs", "interval"),
    [
        (500, 500, (0.992649, 1.0)),
        (495, 500, (0.976819, 0.996745)),
        (0, 10, (0.0, 0.308497)),
        (3, 7, (0.098988, 0.815948)),
    ],
)
def test_intervals_have_their_tabled_values(good, runs, interval):
    assert clopper_pearson(good, runs) == pytest.approx(interval, abs=1e-6)


@pytest.mark.parametrize("x", [0.0, 0.1, 0.5, 0.9, 1.0])
def test_the_incomplete_beta_function_has_its_closed_forms(x):
    assert incomplete_beta(x, 1.0, 1.0) == pytest.approx(x, abs=1e-14)
    assert incomplete_beta(x, 3.0, 1.0) == pytest.approx(x**3, abs=1e-14)
    assert incomplete_beta(x, 1.0, 4.0) == pytest.approx(1.0 - (1.0 - x) ** 4, abs=1e-14)


def test_percentiles_interpolate_between_neighbours():
    assert percentile([], 0.5) is None
    assert percentile([3.0], 0.99) == 3.0
    assert percentile([4.0, 1.0, 2.0, 3.0], 0.5) == 2.5
    assert percentile(list(range(101)), 0.95) == 95.0


def test_a_summary_counts_reasons_and_gates():
    def failed(reason: str, gate: int) -> dict:
        return {
            "success": False,
            "reason": reason,
            "failed_gate": gate,
            "lap_time": [],
            "passages": [],
            "max_speed_m_s": 1.0,
        }

    good = failed("complete", 0) | {
        "success": True,
        "failed_gate": None,
        "lap_time": [40.0, 42.0],
        "passages": [{"gate_error": 0.1}],
        "max_speed_m_s": 4.0,
    }
    scores = [good, failed("crash", 6), failed("frame_hit", 6), failed("frame_hit", 11), None]
    found = summary([{"seed": n, "score": score} for n, score in enumerate(scores)])
    assert found["failures"] == {"frame_hit": 2, "crash": 1, "no verdict": 1}
    assert found["failed_gates"] == {"6": 2, "11": 1}
    assert (found["runs"], found["succeeded"], found["success_rate"]) == (5, 1, 0.2)
    assert found["lap_time"] == {"p50": 41.0, "p95": pytest.approx(41.9)}
    assert found["max_speed_m_s"] == 4.0


def test_an_empty_summary_measures_nothing():
    found = summary([])
    assert found["success_rate"] is None
    assert found["lap_time"] == {"p50": None, "p95": None}


def test_ray_gives_the_results_of_threads(holeshot):
    pytest.importorskip("ray", reason="ray is not installed (pip install 'holeshot[ray]')")
    command = ("batch", "b0-determinism", "--seeds", 10, "--set", "vehicle.mass=0.95,1.05", "--json")
    threads = holeshot(*command)
    assert holeshot(*command, "--ray", "local", "--jobs", 2)[1] == threads[1]


def test_seeds_of_a_lost_worker_are_flown_again(holeshot):
    pytest.importorskip("ray", reason="ray is not installed (pip install 'holeshot[ray]')")
    from ray.cluster_utils import Cluster

    command = ("batch", "b0-nominal", "--seeds", 60, "--json")
    threads = holeshot(*command)
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        second = cluster.add_node(num_cpus=1)
        batch = subprocess.Popen(
            [sys.executable, "-c", "from tools.cli import main; main()", *map(str, command), "--ray", cluster.address],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert batch.stdout is not None
        first = [batch.stdout.readline() for _ in range(4)]
        cluster.remove_node(second, allow_graceful=False)
        rest = batch.stdout.read()
        batch.wait()
    finally:
        cluster.shutdown()
    assert batch.returncode == 0
    assert "".join(first) + rest == threads[1]


def test_without_a_cluster_there_the_address_is_named(holeshot):
    pytest.importorskip("ray", reason="ray is not installed (pip install 'holeshot[ray]')")
    code, _, err = holeshot("batch", HOP, "--seeds", 1, "--ray", "127.0.0.1:1")
    assert code == 2
    assert "--ray 127.0.0.1:1: no cluster there" in err
