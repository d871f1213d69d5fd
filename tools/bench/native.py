"""Rows against C++: the same equations by g++ -O2, in the same run on the same machine."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path

import numba

from blocks import quadrotor
from blocks.math import Quat, Rotors, Vec3
from tools.bench.cpp_parameters import closed_loop_parameters
from tools.bench.loop import flight, one_flight
from tools.bench.measure import Measured, Unavailable, least

STEPS = 200_000
FLAGS = ("-std=c++17", "-O2", "-ffp-contract=off")

# The state and command of tools/bench/cpp/quadrotor_rk4.cpp, which flies the same vehicle.
TUMBLING = quadrotor.State(
    Vec3(0.0, 0.0, 10.0),
    Vec3(3.0, -1.0, 0.5),
    Quat(1.0, 0.0, 0.0, 0.0),
    Vec3(0.4, -0.3, 0.7),
    (1500.0, 1700.0, 1600.0, 1650.0),
    0.0,
    False,
)
COMMAND = (1600.0, 1660.0, 1640.0, 1700.0)
NO_GROUND = -1e9


@contextmanager
def program(name: str) -> Iterator[Path]:
    """The compiled program ``tools/bench/cpp/NAME.cpp``, in a folder of its own, for the length of the block.

    Raises Unavailable without a compiler that compiles it.
    """
    compiler = shutil.which("g++")
    if compiler is None:
        raise Unavailable("no g++ on this machine")
    with tempfile.TemporaryDirectory(prefix="holeshot-bench-") as folder:
        target = Path(folder) / name
        source = resources.files("tools.bench").joinpath("cpp", f"{name}.cpp")
        done = subprocess.run([compiler, *FLAGS, str(source), "-o", str(target)], capture_output=True, text=True)
        if done.returncode != 0:
            raise Unavailable(f"g++ does not compile {name}.cpp: {done.stderr.strip().partition(chr(10))[0]}")
        yield target


def rk4() -> Measured:
    """One RK4 step in a compiled loop over the same step in C++."""
    with program("quadrotor_rk4") as path:
        theirs = min(float(_output(path, str(STEPS)).split()[0]) for _ in range(10))

    @numba.njit(error_model="numpy")
    def hold(p: quadrotor.Params, s: quadrotor.State, command: Rotors, steps: int) -> quadrotor.State:
        for _ in range(steps):
            s = quadrotor.step(p, s, command, 1e-3)
        return s

    vehicle = flight()[1].nominal_params()._replace(ground_z=NO_GROUND)
    hold(vehicle, TUMBLING, COMMAND, 1)
    ours = least(8, lambda: hold(vehicle, TUMBLING, COMMAND, STEPS), time.thread_time) / STEPS * 1e9
    detail = f"{ours:.0f} ns, C++ {theirs:.0f} ns"
    return Measured(ours / theirs, "x", detail, {"ns": ours, "cpp_ns": theirs})


def closed_loop() -> Measured:
    """One flight of the fused loop over the same flight in C++."""
    with program("closed_loop") as path:
        parameters = path.parent / "flight.txt"
        parameters.write_text(closed_loop_parameters(flight()[1]))
        theirs = json.loads(_output(path, str(parameters), "10"))["seconds_per_flight"]["best"] * 1e3
    ours = one_flight().value
    return Measured(ours / theirs, "x", f"{ours:.1f} ms, C++ {theirs:.1f} ms", {"ms": ours, "cpp_ms": theirs})


def _output(path: Path, *arguments: str) -> str:
    return subprocess.run([path, *arguments], check=True, capture_output=True, text=True).stdout
