"""The simulated flight controller on the far side of the command link: rate loop, mixer and failsafe.

thrust_rates commands go through the rate loop and the mixer on the low-passed gyro; motors commands set the rotors
directly, w = w_max sqrt(m). With no command yet, an invalid one, or none for longer than the timeout, every rotor
goes to zero and the rate loop is reset. A command takes effect at the step it arrives at.

Invariants: the configuration is valid (checked by `configure`); the command held is valid; every rotor command lies
in [0, w_max].
"""

import math
from typing import NamedTuple

from blocks import biquad, mixer, rate_controller
from blocks.cascade import cascade_config_from
from blocks.kernel import inlined
from blocks.math import Rotors, Vec3
from graph.errors import InputError
from graph.node import Context, Maybe, New, Node, Setup, node
from msgs.codec import valid_kernel
from msgs.fault import Fault, FaultKind
from msgs.fc_status import FcMode, FcStatus
from msgs.imu_sample import ImuSample
from msgs.motor_command import MotorCommand
from msgs.rotor_command import RotorCommand
from msgs.thrust_rates import ThrustRates
from msgs.types import UInt8
from scenarios.scenario import CommandDelay
from scenarios.world import World

LINK_LOSS = int(FaultKind.LINK_LOSS)
FAILSAFE, THRUST_RATES, MOTORS = int(FcMode.FAILSAFE), int(FcMode.THRUST_RATES), int(FcMode.MOTORS)
STATUS_PERIOD = 10_000_000  # ns, 100 Hz

valid_thrust_rates = valid_kernel(ThrustRates)
valid_motors = valid_kernel(MotorCommand)


class Params(NamedTuple):
    """The loops, and the limits of the link."""

    rate: rate_controller.Params
    mixer: mixer.Params
    gyro_filter: biquad.Params
    period: float  # s, of one step
    timeout: int  # ns, command age from which the failsafe acts


class Held(NamedTuple):
    """The command in force, or none."""

    received: int  # ns; -1: no command yet
    thrust: float  # N
    body_rates: Vec3  # rad/s, body
    motors: Rotors  # 1, normalised thrust
    mode: UInt8  # FcMode; FAILSAFE after an invalid command


class GyroFilter(NamedTuple):
    """The low-pass of each gyro axis."""

    x: biquad.State
    y: biquad.State
    z: biquad.State


class Loop(NamedTuple):
    """The rate loop's state from step to step."""

    gyro: GyroFilter
    rate: rate_controller.State
    saturation: mixer.Saturation
    status_due: int  # ns, of the next status message


class State(NamedTuple):
    """The command in force, the link, and the rate loop."""

    held: Held
    losses: int  # link_loss faults active at present
    loop: Loop


class Out(NamedTuple):
    """What the flight controller publishes."""

    rotor_command: RotorCommand
    fc_status: Maybe[FcStatus]


@inlined
def from_thrust_rates(command: ThrustRates, received: int) -> Held:
    """The command as it is held; an invalid one holds nothing."""
    ok = valid_thrust_rates(command)
    none = (0.0, 0.0, 0.0, 0.0)
    if not ok:
        return Held(received, 0.0, Vec3(0.0, 0.0, 0.0), none, FAILSAFE)
    return Held(received, command.thrust, command.body_rates, none, THRUST_RATES)


@inlined
def from_motors(command: MotorCommand, received: int) -> Held:
    """The command as it is held; an invalid one holds nothing."""
    still = Vec3(0.0, 0.0, 0.0)
    if not valid_motors(command):
        return Held(received, 0.0, still, (0.0, 0.0, 0.0, 0.0), FAILSAFE)
    return Held(received, 0.0, still, command.thrusts, MOTORS)


@inlined
def arrived(t: int, thrust_rates: New[ThrustRates], motors: New[MotorCommand], held: Held, losses: int) -> Held:
    """The command in force after what the link delivered; of two in one step the motors command wins."""
    if losses > 0:
        return held
    if motors.count > 0:
        return from_motors(motors.last, t)
    if thrust_rates.count > 0:
        return from_thrust_rates(thrust_rates.last, t)
    return held


@inlined
def flown(p: Params, loop: Loop, t: int, gyro: Vec3, held: Held) -> tuple[Loop, Out]:
    """One step of filter, rate loop and mixer under the command in force."""
    x, rate_x = biquad.step(p.gyro_filter, loop.gyro.x, gyro.x)
    y, rate_y = biquad.step(p.gyro_filter, loop.gyro.y, gyro.y)
    z, rate_z = biquad.step(p.gyro_filter, loop.gyro.z, gyro.z)
    rates = Vec3(rate_x, rate_y, rate_z)

    timed_out = held.received < 0 or t - held.received > p.timeout
    mode = FAILSAFE if timed_out else held.mode
    rate = rate_controller.initial(p.rate)
    saturation = mixer.Saturation(0, 0, 0, 0)
    speeds = (0.0, 0.0, 0.0, 0.0)
    setpoint = Vec3(0.0, 0.0, 0.0)
    if mode == THRUST_RATES:
        setpoint = held.body_rates
        rate, torque = rate_controller.step(p.rate, loop.rate, setpoint, rates, loop.saturation, p.period)
        mix = mixer.step(p.mixer, held.thrust, torque)
        saturation = mix.saturation
        speeds = mixer.rotor_speeds(p.mixer, mix.thrusts)
    if mode == MOTORS:
        top, m = p.mixer.max_speed, held.motors
        speeds = (top * math.sqrt(m[0]), top * math.sqrt(m[1]), top * math.sqrt(m[2]), top * math.sqrt(m[3]))

    report = t >= loop.status_due
    status = FcStatus(
        stamp=t,
        body_rates=rates,
        body_rates_setpoint=setpoint,
        command_age=t - held.received if held.received >= 0 else -1,
        mode=mode,
        saturation=bits(saturation),
    )
    due = loop.status_due + STATUS_PERIOD if report else loop.status_due
    return (
        Loop(gyro=GyroFilter(x, y, z), rate=rate, saturation=saturation, status_due=due),
        Out(rotor_command=RotorCommand(stamp=t, speeds=speeds), fc_status=Maybe(present=report, value=status)),
    )


@inlined
def bits(s: mixer.Saturation) -> int:
    """The mixer's report as FcStatus has it."""
    roll = 1 if s.roll != 0 else 0
    pitch = 2 if s.pitch != 0 else 0
    yaw = 4 if s.yaw != 0 else 0
    thrust = 8 if s.thrust != 0 else 0
    return roll | pitch | yaw | thrust


@node
def sim_fc(
    p: Params, s: State, t: int, imu: New[ImuSample], thrust_rates: New[ThrustRates], motors: New[MotorCommand]
) -> tuple[State, Out]:
    """One step of the flight controller; before the first IMU sample the gyro reads zero."""
    held = arrived(t, thrust_rates, motors, s.held, s.losses)
    loop, out = flown(p, s.loop, t, imu.last.body_rates, held)
    return State(held=held, losses=s.losses, loop=loop), out


@sim_fc.each
def faults(p: Params, s: State, faults: Fault) -> State:
    """link_loss: commands are dropped while one is active."""
    if faults.kind != LINK_LOSS:
        return s
    return State(held=s.held, losses=max(0, s.losses + (1 if faults.active else -1)), loop=s.loop)


def params_of(world: World) -> Params:
    """The loops of the nominal vehicle. Raises InputError when no cascade can fly it."""
    vehicle = world.vehicle
    try:
        cascade = cascade_config_from(world.nominal_params(), idle_speed=vehicle.rotor.idle_speed_rad_s)
    except ValueError as error:
        raise InputError(f"vehicle {vehicle.name}: {error}") from None
    return Params(
        rate=cascade.rate,
        mixer=cascade.mixer,
        gyro_filter=biquad.butterworth_low_pass(vehicle.fc.gyro_cutoff_hz, vehicle.fc.rate_hz),
        period=1.0 / vehicle.fc.rate_hz,
        timeout=round(vehicle.fc.command_timeout_s * 1e9),
    )


def resting() -> State:
    """No command yet, everything at zero."""
    zero = Vec3(0.0, 0.0, 0.0)
    still = biquad.State(0.0, 0.0)
    return State(
        held=Held(-1, 0.0, zero, (0.0, 0.0, 0.0, 0.0), FAILSAFE),
        losses=0,
        loop=Loop(
            gyro=GyroFilter(still, still, still),
            rate=rate_controller.State(zero, zero),
            saturation=mixer.Saturation(0, 0, 0, 0),
            status_due=0,
        ),
    )


def delays_commands(world: World) -> bool:
    """Whether the scenario can delay commands, for which the flight controller needs its longer state."""
    return any(isinstance(fault, CommandDelay) for fault in world.scenario.faults)


def node_for(world: World) -> Node:
    """The node for a scenario: with a delay line where commands can be delayed."""
    from nodes import sim_fc_delayed

    return sim_fc_delayed.sim_fc if delays_commands(world) else sim_fc


def configure(context: Context) -> Setup:
    """The vehicle's flight controller. Raises InputError when no cascade can fly it, or a delay is too long."""
    from nodes import sim_fc_delayed

    world = context.world
    state = sim_fc_delayed.resting(world) if delays_commands(world) else resting()
    return Setup(params=params_of(world), state=state, rate_hz=world.vehicle.fc.rate_hz)
