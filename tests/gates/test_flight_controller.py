"""The simulated flight controller between commands and rotors.

Motors commands: what flies is the quadrotor block stepped directly with the same commands, bit for bit.
Thrust and rates: takeoff at more than the weight, then hover at the weight; the vehicle leaves the pad and its body
rates settle within 0.05 rad/s. Without commands the rotors are at 0 within one step after the timeout of 0.1 s.
"""

import math
from collections.abc import Iterator, Sequence

import pytest

from blocks import quadrotor
from blocks.math import Quat, Vec3
from scenarios.world import World
from tests.gates.runs import Bench, fly
from tests.gates.toys import script
from tests.gates.toys.script import MOTORS, THRUST_RATES

HOP = [
    (0.3, MOTORS, 0.10, 0.10, 0.10, 0.10),
    (0.8, MOTORS, 0.30, 0.30, 0.30, 0.30),
    (0.9, MOTORS, 0.31, 0.29, 0.30, 0.28),
    (1.0, MOTORS, 0.05, 0.25, 1.00, 0.00),
    (1.4, MOTORS, 0.22, 0.23, 0.22, 0.24),
]


def world_of(baseline: str = "null") -> World:
    return World.load("null-pad", baseline=baseline, duration=5.0)


@pytest.fixture(autouse=True)
def _schedule() -> Iterator[None]:
    yield
    script.SCHEDULE.clear()


def flown(world: World, schedule: Sequence[tuple[float, ...]], duration_s: float) -> Bench:
    script.SCHEDULE.extend(schedule)
    return fly(world, {"script": script}, duration_s)


def test_motors_commands_fly_the_quadrotor_block_bit_for_bit() -> None:
    world = world_of()
    bench = flown(world, HOP, 1.399)
    plant, top = world.plant_params(), world.plant_params().max_rotor_speed
    start, yaw = world.start()
    still = Vec3(0.0, 0.0, 0.0)
    attitude = Quat(math.cos(0.5 * yaw), 0.0, 0.0, math.sin(0.5 * yaw))
    state = quadrotor.State(start, still, attitude, still, (0.0, 0.0, 0.0, 0.0), 0.0, True)
    commands = {c.stamp // 1_000_000: c.thrusts for c in bench.values("motors")}
    held = (0.0, 0.0, 0.0, 0.0)
    for tick, truth in enumerate(bench.values("truth")):
        said = (truth.position, truth.velocity, truth.attitude, truth.body_rates, truth.rotor_speeds, truth.energy)
        assert (*said, truth.on_ground) == tuple(state), tick
        held = commands.get(tick, held)
        a, b, c, d = (top * math.sqrt(m) for m in held)
        state = quadrotor.step(plant, state, (a, b, c, d), 1e-3)
    assert not state.on_ground
    assert state.position.z > start.z


def test_takeoff_then_hover() -> None:
    world = world_of()
    weight = world.nominal_params().mass * world.nominal_params().gravity
    bench = flown(world, [(0.6, THRUST_RATES, 1.2 * weight, 0, 0, 0), (2.0, THRUST_RATES, weight, 0, 0, 0)], 1.999)
    truths = bench.values("truth")
    assert truths[0].on_ground
    assert not any(t.on_ground for t in truths[600:])
    for truth in truths[1000:]:
        assert all(abs(rate) < 0.05 for rate in truth.body_rates)


def test_rotors_are_at_zero_one_step_after_the_command_timeout() -> None:
    world = world_of()
    timeout = round(world.vehicle.fc.command_timeout_s * 1e9)
    weight = world.nominal_params().mass * world.nominal_params().gravity
    bench = flown(world, [(1.0, THRUST_RATES, 1.1 * weight, 0.0, 0.0, 0.0)], 1.5)
    last = max(c.stamp for c in bench.values("thrust_rates"))
    for command in bench.values("rotor_command"):
        if 0 < command.stamp <= last + timeout:
            assert min(command.speeds) > 0.0
        if command.stamp > last + timeout:
            assert command.speeds == (0.0, 0.0, 0.0, 0.0)
