"""Commands nothing: the flight controller stays in its failsafe and the vehicle on the pad."""

from typing import NamedTuple

from baselines.slots import Command, SlotContext, no_command
from blocks.kernel import inlined
from graph.node import Maybe
from msgs.reference import Reference
from msgs.state_estimate import StateEstimate

KIND = "controller"


class Params(NamedTuple):
    """Nothing to set."""


class State(NamedTuple):
    """Nothing to remember."""


@inlined
def control(p: Params, s: State, t: int, estimate: StateEstimate, reference: Maybe[Reference]) -> tuple[State, Command]:
    """No command."""
    return s, no_command(estimate.position_variance.x * 0.0)


def configure(context: SlotContext) -> tuple[Params, State]:
    """Nothing to configure."""
    return Params(), State()
