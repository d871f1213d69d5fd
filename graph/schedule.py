"""When a node steps: step k of a node with rate r at the first tick at or after k / r, computed from k, so that no rate
drifts. ``graph.loop`` spells the same out in the text it generates.
"""

from __future__ import annotations

from msgs.units import NS_PER_S


def first_tick(k: int, rate_hz: int, period_ns: int) -> int:
    """The tick at which step ``k`` fires."""
    return -(-k * NS_PER_S // (rate_hz * period_ns))


def step_at_or_after(tick: int, rate_hz: int, period_ns: int) -> int:
    """The first step whose tick is ``tick`` or later."""
    return (tick - 1) * rate_hz * period_ns // NS_PER_S + 1


def time_of(k: int, rate_hz: int) -> int:
    """The exact time of step ``k``, ns."""
    return k * NS_PER_S // rate_hz


def delivery_tick(time_ns: int, latency_ns: int, period_ns: int) -> int:
    """The tick at which what is published at ``time_ns`` is delivered: the first at or after its latency."""
    return (time_ns + latency_ns + period_ns - 1) // period_ns
