"""Rows of whole runs: recording, the runners against real time, the command's start, and compiling from nothing."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from graph.execution import Execution
from graph.fused import FusedRun
from graph.memory import Array
from graph.run import run
from graph.service import SinkContext
from nodes.recorder import Recorder
from tools.bench.loop import FLIGHT, flight
from tools.bench.measure import Measured, least
from tools.session import load

ROOT = Path(__file__).parents[2]


def fused_minute() -> Measured:
    """A minute of baseline B0 with its bag, under the fused runner."""
    session, _ = load("sitl", [FLIGHT, "duration=60"])
    with tempfile.TemporaryDirectory() as folder:
        bag = Path(folder) / "minute.mcap"
        run(session, Execution("fused", bag=str(bag)))
        taken = least(3, lambda: run(session, Execution("fused", bag=str(bag))))
        size = bag.stat().st_size
    return Measured(taken, "s", f"bag of {size / 1e6:.1f} MB")


def recording() -> Measured:
    """CPU time of the recorder for each message of fixed size it writes."""
    session, _ = flight("duration=20")
    said: list[tuple[int, dict[str, Array]]] = []
    FusedRun(session.graph, 1000).run(session.ticks, lambda end, logs: said.append((end, dict(logs))))
    messages = sum(len(log) for _, logs in said for log in logs.values())
    with tempfile.TemporaryDirectory() as folder:

        def write() -> None:
            sink = Recorder(SinkContext(session.graph, session.provenance, None, str(Path(folder) / "a.mcap")))
            for end, logs in said:
                sink.take(end, logs)
            sink.close()

        taken = least(3, write, time.process_time)
    return Measured(taken / messages * 1e6, "us", f"{messages} messages")


def inline() -> Measured:
    """The inline runner with recording against real time."""
    return _real_time("inline", 20.0, 3)


def process() -> Measured:
    """The process runner with recording against real time, from its first window to its end."""
    return _real_time("process", 10.0, 1)


def _real_time(runner: str, seconds: float, repeats: int) -> Measured:
    session, _ = flight(f"duration={seconds:g}")
    with tempfile.TemporaryDirectory() as folder:
        execution = Execution(runner, bag=str(Path(folder) / "a.mcap"))
        begun = cpu_time()
        taken = least(repeats, lambda: run(session, execution))
        cpu = (cpu_time() - begun) / repeats
    return Measured(seconds / taken, "x", f"{seconds:g} s in {taken:.2f} s, {cpu:.2f} s of CPU", {"cpu_s": cpu})


def cpu_time() -> float:
    """CPU time of this process and of those it has waited for, s."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def help_time() -> Measured:
    """``holeshot --help``, from nothing to its end."""
    return Measured(least(3, lambda: _command("--help")), "s")


def warm_start() -> Measured:
    """A launch of a single tick with a warm cache, from the command to its end, processes and all."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = ("launch", "sitl", FLIGHT, "duration=0.001", "--record", f"{folder}/a.mcap", "--json")
        _command(*arguments)
        return Measured(least(2, lambda: _command(*arguments)), "s")


def cold_start() -> Measured:
    """Compiling everything that the fused runner needs, the others too, with an empty cache."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = ("batch", "b0-nominal", "duration=0.01", "--seeds", "1", "--keep-bags", "0")
        begun = cpu_time()
        taken = least(1, lambda: _command(*arguments, XDG_CACHE_HOME=folder))
    cpu = cpu_time() - begun
    return Measured(taken, "s", f"{cpu:.1f} s of CPU", {"cpu_s": cpu})


def command_of(*arguments: str) -> tuple[list[str], dict[str, str]]:
    """``holeshot`` with ``arguments``, and the environment it finds this project in."""
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return [sys.executable, "-c", "from tools.cli import main; main()", *arguments], {**os.environ, "PYTHONPATH": path}


def _command(*arguments: str, **environment: str) -> None:
    """Run ``holeshot``; a run that fails to fly all gates in so short a time has done its work here."""
    command, usual = command_of(*arguments)
    done = subprocess.run(command, capture_output=True, text=True, env=usual | environment, check=False)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"holeshot {' '.join(arguments)}: {done.stderr}")
