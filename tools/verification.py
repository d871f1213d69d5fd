"""Proving a bag: computing again what it holds, and saying where the two first differ, who said it and from what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from graph.bag import Bag
from graph.bag.column import CONTENT, Column
from graph.bag.divergence import compare
from graph.bag.divergence_report import Report
from graph.bag.marks import COMPLETENESS
from graph.blame import InputSnapshot, inputs_at, producer_of
from graph.build import Session
from graph.config import did_you_mean
from graph.errors import InputError
from graph.picture import computed_pictures, recorded_pictures
from graph.recording import Recording, recorded
from graph.replay import run_again, step_alone
from msgs.units import NS_PER_S
from tools.session import from_bag

STACK = "stack"


@dataclass(frozen=True)
class Culprit:
    """Who published the first message that differs: the node, the tick it stepped at, and what it had."""

    node: str
    module: str
    tick: int
    inputs: tuple[InputSnapshot, ...]


@dataclass(frozen=True)
class Verification:
    """What a bag was compared with, and the outcome."""

    what: str  # "node stack" or "the whole run"
    ticks: int  # compared
    period_ns: int
    complete: str  # as the recorder says: "yes", "no", or "unknown" for a run that did not end in order
    report: Report
    culprit: Culprit | None
    changes: tuple[tuple[str, str, str], ...]  # what was recorded and what is here, where they differ


class Proof:
    """A bag and the session it recorded."""

    def __init__(self, bag: Bag, trust: bool = False) -> None:
        """Raises InputError when the bag does not carry what its session is built from.

        ``trust``: also modules of its own, that the bag names, are run.
        """
        self.bag = bag
        self.session, self.world = from_bag(bag, trust=trust)
        self.recording = recorded(bag, self.session)

    def node(self, name: str) -> Verification:
        """Node ``name`` stepped alone from its recorded inputs. Raises InputError when it cannot be."""
        names = [i.name for i in self.session.graph.instances]
        if name not in names:
            raise InputError(
                f"{self.bag.path}: has no node {name}{did_you_mean(name, names)}; nodes: {', '.join(names)}"
            )
        return self._compared(f"node {name}", self.recording.columns(step_alone(self.recording, name)))

    def everything(self) -> Verification:
        """The whole run, computed from its configuration, and the picture derived from it."""
        end = self.recording.end
        logs = run_again(self.session, end)
        found = self._compared("the whole run", self.recording.columns(logs))
        if not found.report.identical:
            return found
        pictures = recorded_pictures(self.bag, self.session, end)
        again = computed_pictures(self.session, logs, end)
        report = compare(pictures, {name: messages for name, messages in again.items() if name in pictures})
        return found if report.identical else replace(found, report=report)

    def _compared(self, what: str, again: Mapping[str, Column]) -> Verification:
        report = compare({name: m for name, m in self.recording.columns().items() if name in again}, again)
        return Verification(
            what=what,
            ticks=self.recording.end,
            period_ns=self.session.graph.period_ns,
            complete=self.bag.metadata.get(COMPLETENESS, {}).get("complete", "unknown"),
            report=report,
            culprit=culprit(self.recording, report),
            changes=changes(self.bag, self.session),
        )


def culprit(recording: Recording, report: Report) -> Culprit | None:
    """The node behind the first difference."""
    if report.first is None:
        return None
    tick = report.first.time_ns // recording.graph.period_ns
    instance, step = producer_of(recording.graph, report.first.topic, tick)
    return Culprit(instance.name, instance.node.module, step, tuple(inputs_at(recording, instance, step)))


def changes(bag: Bag, session: Session) -> tuple[tuple[str, str, str], ...]:
    """Library versions, Python and processor where the bag was recorded, where they differ from those here."""
    here = session.provenance.metadata
    return tuple(
        (name, bag.metadata.get(kind, {}).get(name, "unknown"), value)
        for kind in ("versions", "machine")
        for name, value in here[kind].items()
        if bag.metadata.get(kind, {}).get(name) != value
    )


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
