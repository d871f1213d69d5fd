"""A disk that fills, a folder that takes nothing, a busy port: a sentence, an exit code, what was recorded is kept."""

import os
import signal
import socket
import subprocess

import pytest

from graph.bag import Bag, recover
from tests.process.session import ZOO, Flight
from tests.tools.command import holeshot


@pytest.fixture
def small_disk(tmp_path):
    """A file system of one megabyte."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("mounting a file system needs root")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize("runner", ["process", "inline"])
def test_a_disk_that_fills_ends_the_run_and_keeps_what_it_has(runner, small_disk, tmp_path):
    bag = small_disk / "run.mcap"
    code, _, err = Flight("sitl", "--runner", runner, "--record", str(bag)).end()
    assert code == 3, err
    assert "no space left on device" in err
    assert "recorder" in err
    recovered = recover(bag, tmp_path / "recovered.mcap")
    assert recovered.counts["truth"] > 100
    assert Bag.open(tmp_path / "recovered.mcap").counts == recovered.counts


def test_a_folder_on_a_read_only_file_system(small_disk):
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    run = holeshot("launch", "sitl", "scenario=null-pad", "--record", str(small_disk / "run.mcap"))
    assert run.returncode == 2
    assert run.stderr.strip().endswith("run.mcap: cannot be written: read-only file system")
    assert os.listdir(small_disk) == []


def test_a_port_in_use(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        (tmp_path / "busy.yaml").write_text(
            "name: busy\ninclude: [{launch: sitl, args: {scenario: 'null-pad'}}]\n"
            f"transport: {{listen: 'tcp/127.0.0.1:{port}'}}\n"
        )
        run = holeshot("launch", str(tmp_path / "busy.yaml"), "--record", str(tmp_path / "run.mcap"))
    assert run.returncode == 2
    assert f"transport.listen: 'tcp/127.0.0.1:{port}': port {port} of 127.0.0.1: Address already in use" in run.stderr
    assert not (tmp_path / "run.mcap").exists()


@pytest.mark.parametrize(
    ("transport", "said"),
    [
        ("listen: localhost", "'localhost': write it as tcp/ADDRESS:PORT, such as tcp/127.0.0.1:0"),
        ("config: {nonsense: 1}", "transport.config"),
    ],
)
def test_a_transport_that_is_none(transport, said, tmp_path):
    (tmp_path / "bad.yaml").write_text(
        f"name: bad\ninclude: [{{launch: sitl, args: {{scenario: 'null-pad'}}}}]\ntransport: {{{transport}}}\n"
    )
    run = holeshot("launch", str(tmp_path / "bad.yaml"))
    assert run.returncode == 2
    assert said in run.stderr


def test_a_run_without_a_clock_process(tmp_path):
    (tmp_path / "bad.yaml").write_text(
        "name: bad\ninclude: [{launch: sitl, args: {scenario: 'null-pad'}}]\nnodes: {clock: null}\n"
    )
    run = holeshot("launch", str(tmp_path / "bad.yaml"), "--record", str(tmp_path / "run.mcap"))
    assert run.returncode == 2
    assert "launch bad: runner process needs a clock among the nodes: nodes.clock" in run.stderr


def test_two_runs_at_once_do_not_disturb_each_other(tmp_path):
    bags = [tmp_path / f"{n}.mcap" for n in range(2)]
    flights = [Flight(ZOO, "--record", str(bag)) for bag in bags]
    assert [flight.end()[0] for flight in flights] == [0, 0]
    assert bags[0].read_bytes() == bags[1].read_bytes()


def test_two_runs_do_not_record_to_one_bag(tmp_path):
    bag = tmp_path / "run.mcap"
    first = Flight("sitl", "--record", str(bag), "--rate", "1")
    first.wait_until_recording(bag)
    second = holeshot("launch", "sitl", "scenario=null-pad", "--runner", "inline", "--record", str(bag))
    assert second.returncode == 2
    assert f"{bag}: another process is recording to it, name another path" in second.stderr
    first.process.send_signal(signal.SIGINT)
    assert first.end()[0] == 130
    assert Bag.open(bag).metadata["run"]["scenario"] == "b0-nominal"
