"""Detects no gates."""

from typing import NamedTuple

from baselines.slots import SlotContext

KIND = "gate_detector"


class Params(NamedTuple):
    """Nothing to set."""


class State(NamedTuple):
    """Nothing to remember."""


def configure(context: SlotContext) -> tuple[Params, State]:
    """Nothing to configure."""
    return Params(), State()
