"""The numbers of a closed loop as text, for the program of the same loop in C++ (tools/bench/cpp/closed_loop.cpp)."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from blocks.math import Quat, Vec3
from graph.errors import InputError
from graph.node import Context, Setup
from msgs.units import NS_PER_S
from nodes import camera_oracle, imu, scorer, sim_fc, simulator, stack
from scenarios.world import World

MODULES = {
    "simulator": simulator,
    "imu": imu,
    "camera_oracle": camera_oracle,
    "stack": stack,
    "sim_fc": sim_fc,
    "scorer": scorer,
}
EVERY_TICK = ("simulator", "imu", "sim_fc", "scorer")
SLOTS = {
    "estimator": "GroundTruthEstimator",
    "gate_detector": "NullGateDetector",
    "planner": "WaypointPlanner",
    "controller": "CascadedPid",
    "safety_filter": "NullSafetyFilter",
    "daa_tracker": "NullDaaTracker",
    "fc_bridge": "NullFcBridge",
}


def closed_loop_parameters(world: World) -> str:
    """Every parameter and every initial state of a world's nodes, as drawn: one `name value...` per line.

    Names are node.field and node.initial.field, with a dot for each level; floats are written with all their bits.
    Raises InputError for a world that the program cannot fly: other slots, faults, sensors or flight controller slower
    than the physics, or an IMU latency other than one tick.
    """
    period_ns = NS_PER_S // world.scenario.sim.physics_rate_hz
    setups = {name: module.configure(Context(name, world.seed, None, world)) for name, module in MODULES.items()}
    _check(world, setups, period_ns)
    lines = [f"period_ns {period_ns}"]
    for name, setup in setups.items():
        lines.append(f"{name}.rate_hz {setup.rate_hz}")
        lines += _lines(name, setup.params)
        lines += _lines(f"{name}.initial", setup.state)
    return "\n".join(lines) + "\n"


def _check(world: World, setups: dict[str, Setup], period_ns: int) -> None:
    source = f"scenario {world.scenario.name}: the program in C++"
    for kind, name in SLOTS.items():
        if (given := getattr(world.baseline.slots, kind)) != name:
            raise InputError(f"{source}: slot {kind} is {given}; must be {name}")
    if world.scenario.faults:
        raise InputError(f"{source}: has no faults; the scenario has {len(world.scenario.faults)}")
    for name in EVERY_TICK:
        if setups[name].rate_hz * period_ns != NS_PER_S:
            raise InputError(f"{source}: {name} steps at {setups[name].rate_hz} Hz; must be {NS_PER_S // period_ns}")
    latency = setups["imu"].latency_ns["imu"]
    if not 0 < latency <= period_ns:
        raise InputError(f"{source}: the IMU's latency is {latency} ns; must be one tick, up to {period_ns}")


def _lines(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, np.ndarray):
        yield _line(name, value.ravel().tolist())
    elif isinstance(value, Vec3 | Quat) or (isinstance(value, tuple) and not hasattr(value, "_fields")):
        yield _line(name, value)
    elif isinstance(value, tuple):
        for field, part in value._asdict().items():  # type: ignore[attr-defined]
            yield from _lines(f"{name}.{field}", part)
    else:
        yield _line(name, (value,))


def _line(name: str, values: Any) -> str:
    return f"{name} {' '.join(repr(int(v) if isinstance(v, bool) else v) for v in values)}"
