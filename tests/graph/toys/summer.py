"""Adds what it hears, ends the run at a limit."""

from typing import NamedTuple

from graph.node import Maybe, New, node
from tests.graph.toys.message import Number


class Params(NamedTuple):
    limit: float


class State(NamedTuple):
    total: float


class Out(NamedTuple):
    total: Maybe[Number]
    stop: bool


@node
def summer(p: Params, s: State, t: int, feedback: New[Number]) -> tuple[State, Out]:
    present = feedback.count > 0 or t == 0
    return s, Out(total=Maybe(present, Number(stamp=t, value=s.total)), stop=s.total >= p.limit)


@summer.each
def number(p: Params, s: State, number: Number) -> State:
    return State(s.total + number.value)
