"""A flight controller that divides by zero after a while."""

from typing import NamedTuple

from graph.node import Context, New, Setup, node
from msgs.imu_sample import ImuSample
from msgs.rotor_command import RotorCommand

BROKEN_NS = 100_000_000


class Params(NamedTuple):
    """Rotor speed commanded until it breaks."""

    speed: float  # rad/s


class State(NamedTuple):
    """Nothing to remember."""


class Out(NamedTuple):
    """What a flight controller commands."""

    rotor_command: RotorCommand


@node
def broken_fc(p: Params, s: State, t: int, imu: New[ImuSample]) -> tuple[State, Out]:
    """A constant, then no number."""
    nothing = p.speed - p.speed
    speed = nothing / nothing if t >= BROKEN_NS else p.speed
    return s, Out(rotor_command=RotorCommand(stamp=t, speeds=(p.speed, p.speed, speed, p.speed)))


def configure(context: Context) -> Setup:
    """At the rate of the physics."""
    rate_hz = context.world.scenario.sim.physics_rate_hz
    return Setup(params=Params(speed=800.0), state=State(), rate_hz=rate_hz)
