"""``holeshot launch``: the result it prints, and for wrong input one clear message, exit code 2, nothing started,
nothing overwritten.
"""

import json
import os
import resource
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from graph.bag import Bag
from tests.tools.command import ROOT, holeshot
from tools.bag_path import bag_path, kept_if_recorded
from tools.session import load

VEHICLE = ROOT / "scenarios/vehicles/rp-1.yaml"
COURSE = ROOT / "scenarios/courses/a2rl-2025.yaml"
SCRIPT = str(Path(sys.executable).with_name("holeshot"))  # as it is installed
SCENARIO = ROOT / "scenarios/null-pad.yaml"


@pytest.mark.parametrize("runner", ["process", "inline", "fused"])
def test_a_flight_ends_with_its_score_and_its_bag(runner, tmp_path):
    bag = tmp_path / "run.mcap"
    run = holeshot("launch", "sitl", "scenario=null-pad", "--runner", runner, "--record", str(bag), "--json")
    assert run.returncode == 0, run.stderr
    result = json.loads(run.stdout)
    assert result["bag"] == str(bag)
    assert result["score"]["success"] is True
    assert result["score"]["reason"] == "complete"
    assert Bag.open(bag).counts["truth"] == 2001


def test_without_a_path_the_bag_is_new_below_bags(tmp_path):
    run = holeshot("launch", "sitl", "scenario=null-pad", "duration=0.1", "--runner", "inline", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    (bag,) = (tmp_path / "bags").iterdir()
    assert f"bag: bags/{bag.name}" in run.stdout


def test_two_launches_never_write_one_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    world = load("sitl", ["scenario=null-pad"])[1]
    names = [bag_path(world, None) for _ in range(4)]
    assert len(set(names)) == 4
    for name in names:
        with kept_if_recorded(name):
            pass
    assert not list((tmp_path / "bags").iterdir())


def test_a_launch_that_fails_leaves_no_empty_bag(tmp_path):
    refused(tmp_path, "scenario=null-pad", "--runner", "fused", "viewer_host=no.such.host.invalid", "--viewer")
    assert not (tmp_path / "bags").exists()


@pytest.mark.parametrize("kind", [stat.S_IFIFO, stat.S_IFCHR])
def test_what_is_no_regular_file_is_not_recorded_to_and_stays(kind, tmp_path):
    path = tmp_path / "run.mcap"
    try:
        os.mknod(path, kind | 0o666, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("making a device needs root")
    message = refused(tmp_path, "scenario=null-pad", "--record", str(path))
    assert message == f"holeshot: --record {path}: is no regular file; it stays as it is"
    assert stat.S_IFMT(path.stat().st_mode) == kind


def test_a_pipe_is_no_scenario(tmp_path):
    os.mkfifo(tmp_path / "pipe.yaml")
    assert refused(tmp_path, f"scenario={tmp_path}/pipe.yaml") == f"holeshot: {tmp_path}/pipe.yaml: is no regular file"


def test_the_interpreter_flies_what_is_not_compiled(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    flown = ("launch", "sitl", "scenario=null-pad", "duration=0.01")
    run = holeshot(*flown, "--runner", "inline", "--record", str(tmp_path / "run.mcap"))
    assert run.returncode == 0, run.stderr
    assert refused(tmp_path, *flown[2:], "--runner", "fused") == (
        "holeshot: runner fused is compiled, which NUMBA_DISABLE_JIT forbids; use --runner process or inline"
    )


def test_where_bags_cannot_be_written_the_place_is_named(tmp_path):
    (tmp_path / "bags").write_text("a list of handbags")
    message = refused(tmp_path, "scenario=null-pad")
    assert message == "holeshot: bags: file exists; recordings go there, or to the file that --record names"
    (tmp_path / "bags").unlink()
    (tmp_path / "bags").symlink_to("/proc")
    assert "holeshot: bags: no such file or directory; " in refused(tmp_path, "scenario=null-pad")


def test_a_run_that_does_not_succeed_exits_with_1(tmp_path):
    run = holeshot(
        "launch",
        "sitl",
        "scenario=b0-nominal",
        "duration=1.0",
        "--runner",
        "inline",
        "--record",
        str(tmp_path / "b.mcap"),
    )
    assert run.returncode == 1
    assert "no: timeout" in run.stdout


def test_arguments_are_listed():
    run = holeshot("launch", "sitl", "--show-args")
    assert run.returncode == 0
    assert "  scenario: str = b0-nominal  what is flown" in run.stdout


def test_a_session_without_a_scorer_flies_and_is_proved(tmp_path):
    sitl = "{launch: sitl, args: {scenario: null-pad, duration: 0.1}}"
    (tmp_path / "bare.yaml").write_text(f"name: bare\ninclude: [{sitl}]\nnodes: {{scorer: null}}\n")
    arguments = ("./bare.yaml", "--runner", "inline", "--record", "bare.mcap")
    run = holeshot("launch", *arguments, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert "no score" in run.stdout
    assert holeshot("bag", "verify", "bare.mcap", "--all", cwd=tmp_path).returncode == 0


def test_a_bag_that_is_played_is_not_recorded_over(tmp_path):
    fly = ("--runner", "inline", "--record", "flight.mcap")
    assert holeshot("launch", "sitl", "scenario=null-pad", "duration=0.1", *fly, cwd=tmp_path).returncode == 0
    before = (tmp_path / "flight.mcap").read_bytes()
    (tmp_path / "link.mcap").symlink_to("flight.mcap")
    for name in ("flight.mcap", "link.mcap"):
        run = holeshot(
            "launch", "replay-stack", "bag=flight.mcap", "--runner", "inline", "--record", name, cwd=tmp_path
        )
        assert run.returncode == 2
        assert f"--record {name}: is the bag that is played; it stays as it is" in run.stderr
    assert (tmp_path / "flight.mcap").read_bytes() == before


def test_without_a_recorder_there_is_no_bag(tmp_path):
    text = "name: x\ninclude: [{launch: sitl, args: {scenario: null-pad, duration: 0.1}}]\nnodes: {recorder: NODE}\n"
    (tmp_path / "x.yaml").write_text(text.replace("NODE", "null"))
    run = holeshot("launch", "./x.yaml", "--runner", "inline", "--json", cwd=tmp_path)
    assert json.loads(run.stdout)["bag"] is None
    run = holeshot("launch", "./x.yaml", "--runner", "inline", "--record", "x.mcap", cwd=tmp_path)
    assert run.returncode == 2
    assert "--record x.mcap: launch file x has no recorder" in run.stderr
    (tmp_path / "x.yaml").write_text(text.replace("recorder: NODE", "second: {node: nodes.recorder}"))
    run = holeshot("launch", "./x.yaml", "--runner", "inline", "--record", "x.mcap", cwd=tmp_path)
    assert run.returncode == 2
    assert "recorder and second would record to one bag" in run.stderr


def test_what_is_wrong_with_the_viewer_is_said_without_one(tmp_path):
    assert "nodes.viewer.options: port: is -3" in refused(tmp_path, "viewer_port=-3", "--no-viewer")


def test_a_fault_on_the_command_line_is_refused_in_its_own_words(tmp_path):
    assert refused(tmp_path, "fault=motor_scale:rotor=1").startswith(
        "holeshot: fault=motor_scale:rotor=1: factor: missing"
    )


def test_folders_of_the_working_directory_are_not_taken_for_ours(tmp_path):
    for name in ("baselines", "nodes", "scenarios"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('not ours')\n")
    bag = ROOT / "bags/reference-b0-determinism.mcap"
    run = subprocess.run([SCRIPT, "bag", "verify", str(bag), "--all"], cwd=tmp_path, capture_output=True, check=False)
    assert run.returncode == 0, run.stderr


def test_compiled_code_that_cannot_be_kept_is_bad_input(tmp_path):
    done = subprocess.run(
        [SCRIPT, "launch", "sitl", "duration=0.1", "--runner", "inline", "--record", str(tmp_path / "run.mcap")],
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (16_000, 16_000)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert f"{tmp_path / 'cache/holeshot'}: cannot keep compiled code: file too large; " in done.stderr
    assert not (tmp_path / "run.mcap").exists()


def test_an_output_that_cannot_be_written_is_said(tmp_path):
    with open("/dev/full", "w") as full:
        show = [SCRIPT, "launch", "sitl", "--show-args"]
        done = subprocess.run(show, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "holeshot: the output cannot be written: no space left on device\n")


def changed(path, old, new, tmp_path):
    text = path.read_text()
    assert old in text
    target = tmp_path / path.name
    target.write_text(text.replace(old, new, 1))
    return str(target)


def refused(tmp_path, *arguments):
    run = holeshot("launch", "sitl", *arguments, cwd=tmp_path)
    assert run.returncode == 2, run.stdout + run.stderr
    assert "Traceback" not in run.stderr
    assert run.stdout == ""
    return run.stderr.strip()


def test_unknown_argument(tmp_path):
    assert refused(tmp_path, "scenari=null-pad").startswith(
        "holeshot: unknown argument 'scenari' of launch file sitl; did you mean scenario?; "
        "valid arguments: scenario, baseline, course, "
    )


def test_unknown_scenario(tmp_path):
    assert refused(tmp_path, "scenario=b0-nominl").startswith(
        "holeshot: unknown scenario 'b0-nominl'; did you mean b0-nominal? (valid: b0-determinism, b0-nominal, "
    )


def test_misspelt_key(tmp_path):
    path = changed(SCENARIO, "duration_s", "duraton_s", tmp_path)
    assert f"{path}: duraton_s: unknown key; did you mean duration_s?" in refused(tmp_path, f"scenario={path}")


def test_wrong_type(tmp_path):
    path = changed(SCENARIO, "duration_s: ", "duration_s: about ", tmp_path)
    assert f"{path}: duration_s: is " in refused(tmp_path, f"scenario={path}")


def test_negative_mass(tmp_path):
    path = changed(VEHICLE, "mass_kg: ", "mass_kg: -", tmp_path)
    assert f"{path}: mass_kg: is -1.0; must be greater than 0" in refused(tmp_path, f"vehicle={path}")


def test_rotor_count(tmp_path):
    path = changed(VEHICLE, "rotor_count: 4", "rotor_count: 3", tmp_path)
    assert f"{path}: rotor_count: is 3; must be 4" in refused(tmp_path, f"vehicle={path}")


def test_unknown_gate_in_the_sequence(tmp_path):
    path = str(tmp_path / "course.yaml")
    (tmp_path / "course.yaml").write_text(COURSE.read_text() + "\nsequence: [1, 2, 99]\n")
    assert f"{path}: sequence" in refused(tmp_path, f"course={path}")
    assert "99" in refused(tmp_path, f"course={path}")


def test_mismatched_wiring(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(
        "name: mine\ninclude: [{launch: sitl, args: {scenario: 'null-pad'}}]\n"
        "nodes: {imu: {node: nodes.imu, inputs: {truth: gates}}}\n"
    )
    run = holeshot("launch", str(path), cwd=tmp_path)
    assert run.returncode == 2
    assert run.stderr.strip() == (
        "holeshot: launch mine: topic gates: output camera_oracle.gates publishes GateObservations, "
        "but input imu.truth expects TruthState"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--rate", "fast"), "holeshot: --rate fast: must be max, or 0.001 to 1000000 simulated seconds per second"),
        (
            ("--rate", "1e-300"),
            "holeshot: --rate 1e-300: must be max, or 0.001 to 1000000 simulated seconds per second",
        ),
        (("--runner", "gpu"), "holeshot: --runner gpu: valid: process, inline, fused"),
        (("--window-ms", "0"), "holeshot: --window-ms 0.0: must be above 0 and at most 10000 milliseconds"),
        (("--record", "nowhere/run.mcap"), "holeshot: --record nowhere/run.mcap: there is no folder nowhere"),
        (("--record", "."), "holeshot: --record .: is a folder; name a file, such as run.mcap"),
    ],
)
def test_bad_options(arguments, message, tmp_path):
    assert refused(tmp_path, "scenario=null-pad", *arguments) == message


def test_a_file_that_is_no_bag_is_not_overwritten(tmp_path):
    (tmp_path / "notes.txt").write_text("precious")
    message = refused(tmp_path, "scenario=null-pad", "--record", "notes.txt")
    assert message == "holeshot: --record notes.txt: there is a file that is no bag; it stays as it is"
    assert (tmp_path / "notes.txt").read_text() == "precious"


def test_a_folder_that_takes_no_file(tmp_path):
    message = refused(tmp_path, "scenario=null-pad", "--record", "/proc/run.mcap")
    assert message == "holeshot: --record /proc/run.mcap: cannot be written: no such file or directory"


def test_bad_input_is_found_before_a_bag_is_touched(tmp_path):
    bag = tmp_path / "run.mcap"
    assert holeshot("launch", "sitl", "scenario=null-pad", "--runner", "inline", "--record", str(bag)).returncode == 0
    before = bag.read_bytes()
    refused(tmp_path, "scenario=nul-pad", "--record", str(bag))
    assert bag.read_bytes() == before
