"""A node whose types and ports have the names that generated code would like to use itself."""

from typing import NamedTuple

from graph.node import Maybe, New, node
from tests.graph.toys.message import Number


class P(NamedTuple):
    mask: float


class S(NamedTuple):
    i: float
    record: float


class out(NamedTuple):
    n: Maybe[Number]
    slot: Number


@node
def awkward(p: P, s: S, t: int, n: New[Number], record: Number) -> tuple[S, out]:
    total = s.i + n.last.value + record.value + p.mask
    return S(total, float(n.count)), out(n=Maybe(n.count > 0, Number(t, total)), slot=Number(t, s.record))


@awkward.each
def i(p: P, s: S, i: Number) -> S:
    return S(s.i + i.value, s.record)
