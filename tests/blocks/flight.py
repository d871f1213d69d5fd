"""Flights for the block tests: rotor commands held, and the whole cascade closed around the plant."""

from typing import NamedTuple

import numpy as np

from blocks import attitude_controller, biquad, camera, mixer, position_controller, quadrotor, rate_controller
from blocks.cascade import Config
from blocks.kernel import kernel
from blocks.math import Quat, Rotors, Vec3
from blocks.splitmix64 import uniform_symmetric3, word


@kernel
def hold(p: quadrotor.Params, s: quadrotor.State, command: Rotors, dt: float, steps: int) -> quadrotor.State:
    """The state after a number of steps with one command."""
    for _ in range(steps):
        s = quadrotor.step(p, s, command, dt)
    return s


@kernel
def store(row: np.ndarray, s: quadrotor.State) -> None:
    """Write the 18 numbers of a state into a row."""
    row[0], row[1], row[2] = s.position.x, s.position.y, s.position.z
    row[3], row[4], row[5] = s.velocity.x, s.velocity.y, s.velocity.z
    row[6], row[7], row[8], row[9] = s.attitude.w, s.attitude.x, s.attitude.y, s.attitude.z
    row[10], row[11], row[12] = s.rates.x, s.rates.y, s.rates.z
    row[13], row[14], row[15], row[16] = s.rotor_speed[0], s.rotor_speed[1], s.rotor_speed[2], s.rotor_speed[3]
    row[17] = s.energy


class Loop(NamedTuple):
    """What a closed-loop flight carries from one millisecond to the next."""

    plant: quadrotor.State
    position: position_controller.State
    rate: rate_controller.State
    filters: tuple[biquad.State, biquad.State, biquad.State]
    saturation: mixer.Saturation
    rates: Vec3


@kernel
def fly_to(
    p: quadrotor.Params,
    c: Config,
    low_pass: biquad.Params,
    lens: camera.Params,
    loop: Loop,
    random: int,
    target: Vec3,
    yaw: float,
    noise: float,
    dt: float,
    rows: np.ndarray,
) -> tuple[Loop, int]:
    """Fly towards a point for one step per row: outer loops every fourth step, rate loop every step.

    The gyro carries uniform noise through the low-pass. Each row takes the plant's 18 numbers and then the pixel and
    depth of the target in the camera.
    """
    random = word(random)
    zero = dt * 0.0
    still = Vec3(zero, zero, zero)
    for k in range(rows.shape[0]):
        s, position, rate, filters, saturation, rates = loop
        if k % 4 == 0:
            position, out = position_controller.step(
                c.position, position, s.position, s.velocity, s.attitude, target, still, 4.0 * dt
            )
            rates = attitude_controller.step(c.attitude, s.attitude, out.direction, yaw)
        random, n = uniform_symmetric3(random, noise)
        fx, gx = biquad.step(low_pass, filters[0], s.rates.x + n.x)
        fy, gy = biquad.step(low_pass, filters[1], s.rates.y + n.y)
        fz, gz = biquad.step(low_pass, filters[2], s.rates.z + n.z)
        rate, torque = rate_controller.step(c.rate, rate, rates, Vec3(gx, gy, gz), saturation, dt)
        mix = mixer.step(c.mixer, position.output.thrust, torque)
        s = quadrotor.step(p, s, mixer.rotor_speeds(c.mixer, mix.thrusts), dt)
        seen = camera.project(lens, camera.view_of(lens, s.position, s.attitude), target)
        store(rows[k], s)
        rows[k, 18], rows[k, 19], rows[k, 20] = seen.u, seen.v, seen.depth
        loop = Loop(s, position, rate, (fx, fy, fz), mix.saturation, rates)
    return loop, random


@kernel
def start(p: quadrotor.Params, c: Config, s: quadrotor.State) -> Loop:
    """The loop before its first step, with the plant in state s."""
    zero = p.mass * 0.0
    rest = biquad.State(zero, zero)
    still = Vec3(zero, zero, zero)
    return Loop(
        s,
        position_controller.initial(c.position),
        rate_controller.initial(c.rate),
        (rest, rest, rest),
        mixer.Saturation(0, 0, 0, 0),
        still,
    )


def attitude(row: np.ndarray) -> Quat:
    """The attitude in a stored row."""
    return Quat(*(float(x) for x in row[6:10]))
