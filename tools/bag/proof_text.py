"""The outcome of a proof, for people and for programs."""

from __future__ import annotations

from typing import Any

from graph.blame import InputSnapshot
from msgs.units import NS_PER_S
from tools.bag.divergence_text import difference_lines, summary_lines
from tools.bag.proof import Verification


def as_json(verification: Verification) -> dict[str, Any]:
    """The verification as a JSON object."""
    v = verification
    found: dict[str, Any] = {"what": v.what, "ticks": v.ticks, "complete": v.complete, **v.report.json()}
    if v.report.first is not None:
        found["first"]["tick"] = v.report.first.time_ns // v.period_ns
    if v.culprit is not None:
        inputs = [{"port": g.port, "topic": g.topic, "tick": g.tick, "value": repr(g.value)} for g in v.culprit.inputs]
        found["node"] = {"name": v.culprit.node, "module": v.culprit.module, "tick": v.culprit.tick, "inputs": inputs}
    found["changes"] = [{"what": name, "recorded": then, "here": now} for name, then, now in v.changes]
    return found


def as_text(verification: Verification) -> list[str]:
    """The verification in lines, for a person."""
    v = verification
    span = f"{v.ticks} ticks, {v.ticks * v.period_ns / NS_PER_S:g} s"
    lines = [f"{v.what}: {'identical' if v.report.identical else 'differs'} ({span})"]
    if v.complete == "no":
        lines.append("the recorder says that messages are missing from this bag; see holeshot bag info")
    if v.report.identical:
        return lines
    lines += difference_lines(v.report, ("recorded", "again"), v.period_ns)
    if v.culprit is not None:
        lines.append(f"  from node {v.culprit.node} ({v.culprit.module}), its step at tick {v.culprit.tick}, which had")
        lines += [f"    {_given(g)}" for g in v.culprit.inputs] or ["    no inputs"]
    lines += summary_lines(v.report)
    if v.changes:
        lines.append("what is not as it was when the bag was recorded:")
        lines += [f"  {name}: {then} then, {now} here" for name, then, now in v.changes]
    else:
        lines.append("library versions, Python and processor are those of the recording: the code differs")
    return lines


def _given(given: InputSnapshot) -> str:
    if given.value is None:
        return f"{given.port}: nothing yet"
    topic = "" if given.topic == given.port else f" (topic {given.topic})"
    return f"{given.port}{topic}, tick {given.tick}: {readable(given.value)}"


def readable(value: Any) -> str:
    """A message as name=value pairs, vectors in parentheses, every number in full."""
    names = getattr(value, "_fields", None)
    if names is None:
        return f"({', '.join(map(readable, value))})" if isinstance(value, tuple) else repr(value)
    return ", ".join(f"{n}={_nested(v)}" for n, v in zip(names, value, strict=True))


def _nested(value: Any) -> str:
    return f"({', '.join(_nested(v) for v in value)})" if isinstance(value, tuple) else repr(value)
