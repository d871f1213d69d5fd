"""Repeats the truth's time, as it hears it: a source of what a late input takes a tick later."""

from typing import NamedTuple

from graph.node import Context, Maybe, New, Setup, node
from msgs.rotor_command import RotorCommand
from msgs.truth_state import TruthState


class Params(NamedTuple):
    """None."""


class State(NamedTuple):
    """The stamp heard last."""

    heard: int


class Out(NamedTuple):
    """The stamp as a rotor speed, so that a bag shows what was heard when."""

    echoed: Maybe[RotorCommand]


@node
def echo(p: Params, s: State, t: int, truth: New[TruthState]) -> tuple[State, Out]:
    """What came since the last step."""
    speed = 1.0 * truth.last.stamp
    heard = RotorCommand(stamp=t, speeds=(speed, 1.0 * truth.count, speed, speed))
    return State(truth.last.stamp), Out(echoed=Maybe(truth.count > 0, heard))


def configure(context: Context) -> Setup:
    """At the rate of the physics."""
    return Setup(Params(), State(0), context.world.scenario.sim.physics_rate_hz)
