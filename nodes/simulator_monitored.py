"""The plant under the invariant monitor: the simulator, whose state is checked before it is stepped on.

A node of its own, so that the unmonitored simulator pays nothing. The first violation is published and ends the run;
the state it was found in is the truth of the same tick.
"""

from typing import NamedTuple

from blocks import quadrotor
from blocks.kernel import inlined
from blocks.monitor import NONE, state_violation, values_of
from graph.node import Maybe, New, node
from msgs.fault import Fault
from msgs.rotor_command import RotorCommand
from msgs.sim_config import SimConfig
from msgs.truth_state import TruthState
from msgs.violation import Violation
from nodes import simulator as unmonitored
from nodes.simulator import Params, State

advance = unmonitored.simulator.step
act_on = unmonitored.simulator.each_kernels["faults"][0]


class Out(NamedTuple):
    """What the simulator publishes under the monitor."""

    truth: TruthState
    sim_config: Maybe[SimConfig]
    violation: Maybe[Violation]
    stop: bool


@inlined
def value_of(s: quadrotor.State, field: int) -> float:
    """The number of a state at an index of `blocks.monitor.STATE_FIELDS`."""
    return values_of(s)[field]


@node
def simulator(p: Params, s: State, t: int, rotor_command: New[RotorCommand]) -> tuple[State, Out]:
    """Integrate to t, publish the state there, and end the run when it must not be stepped on."""
    following, out = advance(p, s, t, rotor_command)
    found = state_violation(p.plant, following.plant)
    violated = found.kind != NONE
    field = found.field if violated else 0
    speed, k = rotor_command.last.speeds, s.speed_scale
    violation = Violation(
        stamp=t,
        command=(speed[0] * k[0], speed[1] * k[1], speed[2] * k[2], speed[3] * k[3]),
        value=value_of(following.plant, field),
        step=int(t * 1e-9 / p.period + 0.5),
        kind=found.kind,
        field=field,
    )
    return (
        following,
        Out(
            truth=out.truth,
            sim_config=out.sim_config,
            violation=Maybe(present=violated, value=violation),
            stop=violated,
        ),
    )


@simulator.each
def faults(p: Params, s: State, faults: Fault) -> State:
    """As without the monitor."""
    return act_on(p, s, faults)
