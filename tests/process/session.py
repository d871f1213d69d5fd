"""Launches a session as a user does, and looks at its processes from outside."""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
MOMENT_S = 0.02
"""Between two looks at another process."""
ZOO = str(ROOT / "tests/process/zoo/zoo.yaml")
COMMAND = [sys.executable, "-c", "from tools.cli import main; main()"]


class Flight:
    """A launch in flight: ``holeshot launch`` and the processes it forked."""

    def __init__(self, *arguments: str, cwd: Path = ROOT) -> None:
        self.process = subprocess.Popen(
            [*COMMAND, "launch", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=cwd,
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
            start_new_session=True,
        )

    def children(self) -> list[int]:
        """The processes of the run that exist now."""
        return [pid for pid in _processes() if _stat(pid, PARENT) == self.process.pid]

    def session(self) -> list[int]:
        """The processes that the launch or what it forked has started, whoever is their parent by now."""
        return [pid for pid in _processes() if _stat(pid, SESSION) == self.process.pid]

    def wait_until_recording(
        self, bag: Path, size: int = 100_000, names: tuple[str, ...] | None = None
    ) -> dict[str, int]:
        """Wait until the bag has ``size`` bytes; returns the process id of each of ``names``, by default sitl's."""
        names = NAMES if names is None else names
        while not (bag.exists() and bag.stat().st_size >= size):
            self.go_on()
        return dict(zip(names, sorted(self.children()), strict=True))

    def go_on(self, seconds: float = MOMENT_S) -> None:
        """Let a moment pass in which the launch does not end; fails if it does."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(seconds)
            raise AssertionError(self.process.communicate()[1])

    def end(self, timeout: float = 180.0) -> tuple[int, str, str]:
        """Wait for its end: exit code, output, errors. Nothing of it may be left."""
        before = self.children()
        try:
            out, err = self.process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            for pid in (*self.children(), self.process.pid):
                os.kill(pid, signal.SIGKILL)
            raise
        assert [pid for pid in before if alive(pid)] == []
        return self.process.returncode, out, err


NAMES = (
    "fault_injector", "simulator", "imu", "camera_oracle", "stack", "sim_fc", "scorer", "recorder", "clock",
)  # fmt: skip
"""The processes of launch file sitl in the order they are forked."""


def alive(pid: int) -> bool:
    """Whether a process exists and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


PARENT, SESSION = 1, 3  # fields of /proc/PID/stat behind the command's name


def _processes() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _stat(pid: int, field: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[field])
    except (OSError, IndexError):
        return -1


def until_gone(pids: list[int], limit: float) -> None:
    """Wait until none of the processes exists; fails after ``limit`` seconds."""
    end = time.monotonic() + limit
    while any(alive(pid) for pid in pids):
        assert time.monotonic() < end, f"still there: {[pid for pid in pids if alive(pid)]}"
        select.select([], [], [], MOMENT_S)


def tick_named(text: str) -> int:
    """The tick a failure names."""
    found = re.search(r"at tick (\d+)", text)
    assert found is not None, text
    return int(found[1])
