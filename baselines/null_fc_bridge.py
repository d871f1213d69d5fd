"""Hands the command to the flight controller as it is."""

from typing import NamedTuple

from baselines.slots import Command, SlotContext
from blocks.kernel import inlined

KIND = "fc_bridge"


class Params(NamedTuple):
    """Nothing to set."""


class State(NamedTuple):
    """Nothing to remember."""


@inlined
def send(p: Params, s: State, command: Command) -> tuple[State, Command]:
    """The command as it is."""
    return s, command


def configure(context: SlotContext) -> tuple[Params, State]:
    """Nothing to configure."""
    return Params(), State()
