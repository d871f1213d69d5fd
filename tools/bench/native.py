"""Rows against C++: the same equations by g++ -O2, in the same run on the same machine."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import time
from functools import cache
from importlib import resources
from pathlib import Path

import numba

from blocks import quadrotor
from blocks.math import Quat, Rotors, Vec3
from tools.bench.loop import flight, one_flight
from tools.bench.measure import Measured, Unavailable, least
from tools.cpp_parameters import closed_loop_parameters

STEPS = 200_000
FLAGS = ("-std=c++17", "-O2", "-ffp-contract=off")

# The state and command of tools/cpp/quadrotor_rk4.cpp, which flies the same vehicle.
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


@cache
def program(name: str) -> Path:
    """The compiled program ``tools/cpp/NAME.cpp``. Raises Unavailable without a compiler."""
    compiler = shutil.which("g++")
    if compiler is None:
        raise Unavailable("no g++ on this machine")
    target = Path(tempfile.mkdtemp(prefix="holeshot-bench-")) / name
    source = resources.files("tools").joinpath("cpp", f"{name}.cpp")
    subprocess.run([compiler, *FLAGS, str(source), "-o", str(target)], check=True, capture_output=True)
    return target


def rk4() -> Measured:
    """One RK4 step in a compiled loop over the same step in C++."""
    path = program("quadrotor_rk4")
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
    path = program("closed_loop")
    parameters = path.parent / "flight.txt"
    parameters.write_text(closed_loop_parameters(flight()[1]))
    theirs = json.loads(_output(path, str(parameters), "10"))["seconds_per_flight"]["best"] * 1e3
    ours = one_flight().value
    return Measured(ours / theirs, "x", f"{ours:.1f} ms, C++ {theirs:.1f} ms", {"ms": ours, "cpp_ms": theirs})


def _output(path: Path, *arguments: str) -> str:
    return subprocess.run([path, *arguments], check=True, capture_output=True, text=True).stdout
