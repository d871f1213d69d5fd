"""The flight controller of `nodes.sim_fc` behind a link that can delay commands.

Its own file, because the delay line makes the state four times as long, which runs without the fault need not pay
for. A command that arrives supersedes all that were sent before it, also when a shorter delay lets it overtake them.
"""

from typing import NamedTuple

from blocks.kernel import inlined
from graph.errors import InputError
from graph.node import New, node
from msgs.fault import Fault, FaultKind
from msgs.imu_sample import ImuSample
from msgs.motor_command import MotorCommand
from msgs.thrust_rates import ThrustRates
from nodes import sim_fc as direct
from nodes.sim_fc import LINK_LOSS, Held, Loop, Out, Params
from scenarios.scenario import CommandDelay
from scenarios.world import World

COMMAND_DELAY = int(FaultKind.COMMAND_DELAY)
LENGTH = 16

Line = tuple[
    Held, Held, Held, Held, Held, Held, Held, Held, Held, Held, Held, Held, Held, Held, Held, Held
]  # fmt: skip


class State(NamedTuple):
    """The command in force, the link, and the rate loop."""

    held: Held
    line: Line  # commands on their way, newest first; `received` is when each arrives
    waiting: int  # how many of them
    delay: int  # ns, of a command sent now
    losses: int  # link_loss faults active at present
    loop: Loop


@inlined
def sent(t: int, thrust_rates: New[ThrustRates], motors: New[MotorCommand], s: State) -> State:
    """The delay line after the commands of this step."""
    if s.losses > 0 or motors.count + thrust_rates.count == 0:
        return s
    due = t + s.delay
    held = direct.arrived(due, thrust_rates, motors, s.held, 0)
    waiting = s.waiting + 1 if s.waiting < LENGTH else LENGTH
    return State(s.held, (held,) + s.line[:-1], waiting, s.delay, s.losses, s.loop)


@node
def sim_fc(
    p: Params, s: State, t: int, imu: New[ImuSample], thrust_rates: New[ThrustRates], motors: New[MotorCommand]
) -> tuple[State, Out]:
    """One step of the flight controller; before the first IMU sample the gyro reads zero."""
    s = sent(t, thrust_rates, motors, s)
    held, waiting = s.held, s.waiting
    for i in range(s.waiting):
        if s.line[i].received <= t:
            held, waiting = s.line[i], i
            break
    loop, out = direct.flown(p, s.loop, t, imu.last.body_rates, held)
    return State(held, s.line, waiting, s.delay, s.losses, loop), out


@sim_fc.each
def faults(p: Params, s: State, faults: Fault) -> State:
    """link_loss: commands are dropped while one is active. command_delay: the active delays add up."""
    sign = 1 if faults.active else -1
    delay, losses = s.delay, s.losses
    if faults.kind == LINK_LOSS:
        losses += sign
    if faults.kind == COMMAND_DELAY:
        delay += sign * int(faults.value * 1e9 + 0.5)
    return State(s.held, s.line, s.waiting, delay, losses, s.loop)


def resting(world: World) -> State:
    """No command yet, none on its way. Raises InputError when a delay could outlast the delay line."""
    longest = (LENGTH - 1) / world.baseline.control_rate_hz
    total = 0.0
    for index, fault in enumerate(world.scenario.faults):
        if isinstance(fault, CommandDelay):
            total += fault.delay_s
            if total > longest:
                raise InputError(
                    f"scenario {world.scenario.name}: faults[{index}].delay_s: the delays add up to {total:g} s; must "
                    f"be at most {longest:g} s, {LENGTH - 1} control periods of baseline {world.baseline.name}"
                )
    start = direct.resting()
    line = (start.held,) * LENGTH
    return State(start.held, line, 0, 0, 0, start.loop)  # type: ignore[arg-type]
