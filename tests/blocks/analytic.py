"""Cases with a closed form, and one whole flight, in a chosen scalar type, compiled or interpreted.

Run as a module under NUMBA_DISABLE_JIT=1 it prints, as JSON, every case in float64 and float32 from the plain
interpreter.
"""

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from blocks.biquad import butterworth_low_pass
from blocks.cascade import cascade_config_from
from blocks.math import Quat, Vec3
from blocks.quadrotor import State, hover_rotor_speed
from blocks.splitmix64 import stream
from tests.blocks.flight import fly_to, hold, start
from tests.blocks.rp1 import CAMERA, NO_GROUND, RP1, ZERO, bits, mapped, numbers, still

DT = 1e-3
STEPS = 300

AIRBORNE = RP1._replace(ground_z=NO_GROUND, battery_sag=0.0)
FREE = AIRBORNE._replace(drag_linear=ZERO, drag_quadratic=ZERO)
LINEAR = AIRBORNE._replace(drag_quadratic=ZERO)
HOVER = float(hover_rotor_speed(RP1))


def moving(velocity: Vec3, rotor_speed: float) -> State:
    return still(10.0, rotor_speed)._replace(velocity=velocity)


CASES = {
    "free fall": (FREE, still(10.0), 0.0),
    "hover": (AIRBORNE, still(10.0, HOVER), HOVER),
    "ground contact": (RP1, still(0.25), 0.0),
    "motor lag": (AIRBORNE, still(10.0, 1000.0), 1200.0),
    "linear drag": (LINEAR, moving(Vec3(3.0, 0.0, 0.0), HOVER), HOVER),
}


def final_states(scalar: Callable[[float], Any]) -> dict[str, list[Any]]:
    """The 18 numbers and the contact flag of each case after STEPS steps of DT."""
    found = {}
    for name, (params, state, command) in CASES.items():
        end = hold(mapped(params, scalar), mapped(state, scalar), mapped((command,) * 4, scalar), scalar(DT), STEPS)
        found[name] = numbers(end)
    return found


def whole_flight(scalar: Callable[[float], Any], steps: int = 600) -> tuple[np.ndarray, int]:
    """A take-off from the ground towards a point, through every block; one row per millisecond."""
    p = mapped(RP1, scalar)
    c = mapped(cascade_config_from(RP1), scalar)
    low_pass = mapped(butterworth_low_pass(80.0, 1000.0), scalar)
    pad = still(0.0, on_ground=True)._replace(attitude=Quat(0.9990482215818578, 0.0, 0.0, 0.043619387365336))
    loop = start(p, c, mapped(pad, scalar))
    rows = np.zeros((steps, 21))
    target = mapped(Vec3(1.0, 0.5, 1.0), scalar)
    random = stream(7, "imu", "gyro")
    view, yaw, noise = mapped(CAMERA, scalar), scalar(0.7), scalar(0.02)
    _, random = fly_to(p, c, low_pass, view, loop, random, target, yaw, noise, scalar(DT), rows)
    return rows, random


def report(scalar: Callable[[float], Any]) -> dict[str, Any]:
    """Every case, and the bits of every number of the flight."""
    rows, random = whole_flight(scalar)
    return {
        "types": sorted({type(x).__name__ for state in final_states(scalar).values() for x in state[:18]}),
        "cases": {name: [float(x) for x in state] for name, state in final_states(scalar).items()},
        "case bits": {name: bits(state) for name, state in final_states(scalar).items()},
        "flight bits": bits(rows.ravel()),
        "random": int(random),
        "height": float(rows[-1, 2]),
    }


if __name__ == "__main__":
    print(json.dumps({"float64": report(float), "float32": report(np.float32)}))
