"""A source that counts its steps."""

from typing import NamedTuple

from graph.node import node
from tests.graph.toys.message import Number


class Params(NamedTuple):
    gain: float


class State(NamedTuple):
    steps: int


class Out(NamedTuple):
    number: Number


@node
def counter(p: Params, s: State, t: int) -> tuple[State, Out]:
    return State(s.steps + 1), Out(number=Number(stamp=t, value=p.gain * s.steps))
