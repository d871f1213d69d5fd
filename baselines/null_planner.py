"""Plans nothing: no reference is published."""

from typing import NamedTuple

from baselines.slots import SlotContext, no_reference
from blocks.kernel import inlined
from graph.node import Maybe
from msgs.reference import Reference
from msgs.state_estimate import StateEstimate

KIND = "planner"


class Params(NamedTuple):
    """Nothing to set."""


class State(NamedTuple):
    """Nothing to remember."""


@inlined
def plan(p: Params, s: State, t: int, estimate: StateEstimate) -> tuple[State, Maybe[Reference]]:
    """No reference."""
    return s, no_reference(estimate.position_variance.x * 0.0)


def configure(context: SlotContext) -> tuple[Params, State]:
    """Nothing to configure."""
    return Params(), State()
