"""Where two recordings differ, in lines for a person."""

from __future__ import annotations

from graph.bag.column import CONTENT
from graph.bag.divergence_report import Report
from msgs.units import NS_PER_S


def difference_lines(report: Report, sides: tuple[str, str], period_ns: int | None) -> list[str]:
    """The first difference."""
    first = report.first
    assert first is not None
    tick = "" if period_ns is None else f"tick {first.time_ns // period_ns}, "
    where = f"first difference: {tick}{first.time_ns / NS_PER_S:g} s, topic {first.topic}, message {first.index}"
    if not first.field:
        present, absent = sides if first.right is None else sides[::-1]
        return [where, f"  is there in {present}, missing in {absent}"]
    apart = "" if first.ulps is None else f"  ({first.ulps} ULP apart)"
    width = max(map(len, sides))
    if first.left is None:
        return [f"{where}: {first.field.strip('()')} differs"]
    return [
        f"{where}, field {first.field}",
        f"  {sides[0]:<{width}}  {first.left!r}",
        f"  {sides[1]:<{width}}  {first.right!r}{apart}",
    ]


def summary_lines(report: Report) -> list[str]:
    """What differs in each topic: messages, then fields with their count and largest distance."""
    lines = ["by topic:"]
    same = [t.topic for t in report.topics if t.identical]
    for topic in report.topics:
        if topic.identical:
            continue
        parts = [f"{topic.differing} of {min(topic.left, topic.right)} messages differ"] if topic.differing else []
        parts += [f"{topic.missing} missing"] if topic.missing else []
        parts += [f"{topic.extra} extra"] if topic.extra else []
        lines.append(f"  {topic.topic}: {', '.join(parts)}")
        for name, found in topic.fields.items():
            ulps = "" if found.ulps is None else f" ({found.ulps} ULP)"
            distance = "" if name == CONTENT else f", largest distance {found.largest:.3g}{ulps}"
            lines.append(f"    {name}: {found.count}{distance}")
    return lines + ([f"  identical: {', '.join(same)}"] if same else [])
