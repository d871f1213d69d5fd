"""The model integrated at 1 ms follows trajectories that an independent high-order solver computed.

data/ holds a few samples of each (DOP853, rtol 1e-13; every 0.25 s) and the largest error in any component that an
independent RK4 at 1 ms makes over the full set of samples. The step may err by that, and by rounding. A complete
reference set (samples every 10 ms) in a folder `physics` beside the checkout is followed too.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from blocks.kernel import kernel
from blocks.math import Quat, Rotors, Vec3
from blocks.quadrotor import Params, State, step
from tests.blocks.flight import store
from tests.blocks.rp1 import NO_GROUND

DATA = Path(__file__).parent / "data"
COMPLETE = sorted(Path(__file__).parents[3].glob("*/physics/integrator_tolerances.json"))

QUANTITIES = {
    "position": slice(0, 3),
    "velocity": slice(3, 6),
    "attitude": slice(6, 10),
    "rates": slice(10, 13),
    "rotor speed": slice(13, 17),
}
# The references are stored to 15 digits, and two thousand steps of double rounding add up to less than this.
ROUNDING = 1e-11


@kernel
def follow(
    p: Params, s: State, starts: np.ndarray, commands: np.ndarray, samples: np.ndarray, dt: float, rows: np.ndarray
) -> None:
    """Fly with commands[k] from step starts[k] on and store the state at each step number in samples."""
    k = 0
    sample = 0
    for n in range(samples[-1] + 1):
        if n == samples[sample]:
            store(rows[sample], s)
            sample += 1
        if k + 1 < starts.shape[0] and n >= starts[k + 1]:
            k += 1
        s = step(p, s, (commands[k, 0], commands[k, 1], commands[k, 2], commands[k, 3]), dt)


def four(values: list[float]) -> Rotors:
    a, b, c, d = (float(x) for x in values)
    return a, b, c, d


def quadrotor_params(given: dict[str, Any]) -> Params:
    return Params(
        mass=given["mass"],
        inertia=Vec3(given["Ixx"], given["Iyy"], given["Izz"]),
        rotor_x=four(given["rotor_x"]),
        rotor_y=four(given["rotor_y"]),
        spin=four(given["spin"]),
        thrust_coefficient=given["k_f"],
        torque_coefficient=given["k_m"],
        max_rotor_speed=given["wmax"],
        rotor_time_constant=given["tau"],
        drag_linear=Vec3(*given["Dlin"]),
        drag_quadratic=Vec3(*given["Dquad"]),
        power_coefficient=given["k_p"],
        battery_capacity=given["capacity"],
        battery_sag=given["sag"],
        gravity=given["g"],
        ground_z=NO_GROUND,
    )


def assert_followed(reference: dict[str, Any], error: list[float]) -> None:
    x = [float(value) for value in reference["initial_state"]]
    state = State(Vec3(*x[0:3]), Vec3(*x[3:6]), Quat(*x[6:10]), Vec3(*x[10:13]), four(x[13:17]), x[17], False)
    samples = np.array([round(1000 * t) for t in reference["t"]])
    starts = np.array([round(1000 * command["t"]) for command in reference["commands"]])
    commands = np.array([command["u"] for command in reference["commands"]], dtype=np.float64)
    rows = np.zeros((len(samples), 18))
    follow(quadrotor_params(reference["params"]), state, starts, commands, samples, 1e-3, rows)

    wanted = np.array(reference["states"])
    wanted[:, 6:10] *= np.where(np.sum(wanted[:, 6:10] * rows[:, 6:10], axis=1) < 0.0, -1.0, 1.0)[:, None]
    for (quantity, columns), allowed in zip(QUANTITIES.items(), error):
        difference = np.abs(rows[:, columns] - wanted[:, columns]).max()
        assert difference <= 1.001 * allowed + ROUNDING, (reference["name"], quantity, difference, allowed)
    # No tolerance was measured for the energy. Its error follows from that of the rotors, dE' = 4 * 3 k_p w^2 dw, which
    # lasts about one lag time after each change of command.
    given = reference["params"]
    allowed = 12.0 * given["k_p"] * commands.max() ** 2 * error[4] * given["tau"] * len(commands) + 1e-9
    assert np.abs(rows[:, 17] - wanted[:, 17]).max() <= allowed, reference["name"]


@pytest.mark.parametrize("path", sorted(DATA.glob("*.json")), ids=lambda path: path.stem)
def test_follows_the_samples_kept_here(path: Path) -> None:
    reference = json.loads(path.read_text())
    assert_followed(reference, reference["rk4_1ms_error"])


@pytest.mark.skipif(not COMPLETE, reason="no complete reference set beside the checkout")
def test_follows_every_sample_of_the_complete_set() -> None:
    tolerances = json.loads(COMPLETE[0].read_text())
    paths = [path for path in sorted(COMPLETE[0].parent.glob("[0-9]*.json")) if path.stem in tolerances]
    assert paths
    for path in paths:
        assert_followed(json.loads(path.read_text()), tolerances[path.stem]["RK4 1ms"])
