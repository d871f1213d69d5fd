"""Sees no other aircraft."""

from typing import NamedTuple

from baselines.slots import SlotContext
from blocks.kernel import inlined
from msgs.state_estimate import StateEstimate

KIND = "daa_tracker"


class Params(NamedTuple):
    """Nothing to set."""


class State(NamedTuple):
    """Nothing to remember."""


@inlined
def track(p: Params, s: State, estimate: StateEstimate) -> State:
    """Nothing tracked."""
    return s


def configure(context: SlotContext) -> tuple[Params, State]:
    """Nothing to configure."""
    return Params(), State()
