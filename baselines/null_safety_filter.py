"""Lets every command pass."""

from typing import NamedTuple

from baselines.slots import Command, SlotContext
from blocks.kernel import inlined
from msgs.state_estimate import StateEstimate

KIND = "safety_filter"


class Params(NamedTuple):
    """Nothing to set."""


class State(NamedTuple):
    """Nothing to remember."""


@inlined
def limit(p: Params, s: State, estimate: StateEstimate, command: Command) -> tuple[State, Command]:
    """The command as it is."""
    return s, command


def configure(context: SlotContext) -> tuple[Params, State]:
    """Nothing to configure."""
    return Params(), State()
