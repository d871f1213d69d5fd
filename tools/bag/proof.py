"""Proving a bag: computing again what it holds, and saying where the two first differ, who said it and from what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from graph.bag import Bag
from graph.bag.column import Column
from graph.bag.divergence import compare
from graph.bag.divergence_report import Report
from graph.bag.marks import COMPLETENESS, CUT
from graph.blame import InputSnapshot, inputs_at, producer_of
from graph.build import Session
from graph.config import did_you_mean
from graph.errors import InputError
from graph.picture import computed_pictures, recorded_pictures
from graph.recording import Recording, recorded
from graph.replay import run_again, step_alone
from tools.recorded_session import from_bag

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
        columns = self.recording.columns(logs)
        if CUT in self.bag.metadata:
            columns = {topic: column for topic, column in columns.items() if topic in self.bag.counts}
        found = self._compared("the whole run", columns)
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
