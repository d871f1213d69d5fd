"""The flight controller of `nodes.sim_fc` behind a link that can delay commands.

Its own file, because the delay line makes the state four times as long, which runs without the fault need not pay
for. A command that arrives supersedes all that were sent before it, also when a shorter delay lets it overtake them.
"""

from typing import Annotated, NamedTuple

from blocks.kernel import inlined
from blocks.math import Vec3
from graph.errors import InputError
from graph.node import New, node
from msgs.fault import Fault, FaultKind
from msgs.imu_sample import ImuSample
from msgs.motor_command import MotorCommand
from msgs.thrust_rates import ThrustRates
from nodes import sim_fc as direct
from nodes.sim_fc import LINK_LOSS, MOTORS, Held, Loop, Out, Params
from scenarios.scenario import CommandDelay
from scenarios.world import World

COMMAND_DELAY = int(FaultKind.COMMAND_DELAY)
LENGTH = 16

Times = Annotated[tuple[int, ...], LENGTH]
Values = Annotated[tuple[float, ...], LENGTH]


class Line(NamedTuple):
    """Commands on their way, newest first, column by column: a tuple of commands would take a minute to compile."""

    due: Times  # ns, when each arrives
    mode: Times  # FcMode
    a: Values  # thrust, N, or thrust of rotor 0
    b: Values  # body rate x, rad/s, or thrust of rotor 1
    c: Values  # body rate y, or thrust of rotor 2
    d: Values  # body rate z, or thrust of rotor 3


class State(NamedTuple):
    """The command in force, the link, and the rate loop."""

    held: Held
    line: Line
    waiting: int  # commands in the line
    delay: int  # ns, of a command sent now
    losses: int  # link_loss faults active at present
    loop: Loop


@inlined
def pushed(line: Line, command: Held) -> Line:
    """The line with one more command; the oldest drops out of its end."""
    m, w = command.motors, command.body_rates
    motors = command.mode == MOTORS
    return Line(
        due=(command.received,) + line.due[:-1],
        mode=(command.mode,) + line.mode[:-1],
        a=(m[0] if motors else command.thrust,) + line.a[:-1],
        b=(m[1] if motors else w.x,) + line.b[:-1],
        c=(m[2] if motors else w.y,) + line.c[:-1],
        d=(m[3] if motors else w.z,) + line.d[:-1],
    )


@inlined
def command_at(line: Line, i: int) -> Held:
    """A command of the line as the flight controller holds it."""
    a, b, c, d = line.a[i], line.b[i], line.c[i], line.d[i]
    if line.mode[i] == MOTORS:
        return Held(line.due[i], 0.0, Vec3(0.0, 0.0, 0.0), (a, b, c, d), line.mode[i])
    return Held(line.due[i], a, Vec3(b, c, d), (0.0, 0.0, 0.0, 0.0), line.mode[i])


@node
def sim_fc(
    p: Params, s: State, t: int, imu: New[ImuSample], thrust_rates: New[ThrustRates], motors: New[MotorCommand]
) -> tuple[State, Out]:
    """One step of the flight controller; before the first IMU sample the gyro reads zero."""
    held, line, waiting = s.held, s.line, s.waiting
    if not s.losses > 0 and motors.count + thrust_rates.count > 0:
        line = pushed(line, direct.arrived(t + s.delay, thrust_rates, motors, held, 0))
        waiting = waiting + 1 if waiting < LENGTH else LENGTH
    for i in range(waiting):
        if line.due[i] <= t:
            held, waiting = command_at(line, i), i
            break
    loop, out = direct.flown(p, s.loop, t, imu.last.body_rates, held)
    return State(held, line, waiting, s.delay, s.losses, loop), out


@sim_fc.each
def faults(p: Params, s: State, faults: Fault) -> State:
    """link_loss: commands are dropped while one is active. command_delay: the active delays add up."""
    sign = 1 if faults.active else -1
    delay, losses = s.delay, s.losses
    if faults.kind == LINK_LOSS:
        losses = max(0, losses + sign)
    if faults.kind == COMMAND_DELAY:
        delay = max(0, delay + sign * int(faults.value * 1e9 + 0.5))
    return State(s.held, s.line, s.waiting, delay, losses, s.loop)


def longest_delay_s(world: World) -> float:
    """The longest delay that commands of the world's baseline can have; 0 where its scenario delays none."""
    return (LENGTH - 1) / world.baseline.control_rate_hz if direct.delays_commands(world) else 0.0


def resting(world: World) -> State:
    """No command yet, none on its way. Raises InputError when a delay could outlast the delay line."""
    longest, total = longest_delay_s(world), 0.0
    for index, fault in enumerate(world.scenario.faults):
        if isinstance(fault, CommandDelay):
            total += fault.delay_s
            if total > longest:
                raise InputError(
                    f"scenario {world.scenario.name}: faults[{index}].delay_s: the delays add up to {total:g} s; must "
                    f"be at most {longest:g} s, {LENGTH - 1} control periods of baseline {world.baseline.name}"
                )
    start = direct.resting()
    none, zero = (0,) * LENGTH, (0.0,) * LENGTH
    return State(start.held, Line(none, none, zero, zero, zero, zero), 0, 0, 0, start.loop)
