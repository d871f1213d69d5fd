"""What is left of a run that the invariant monitor ended: a sentence and a repro file."""

from __future__ import annotations

from pathlib import Path

from blocks.monitor import Violation as Found
from blocks.plain import plain
from graph.bag import Bag
from graph.build import Session
from graph.recording import recorded
from msgs.record import read
from msgs.truth_state import TruthState
from msgs.units import NS_PER_S
from msgs.violation import Violation
from nodes.imu import plant_of
from scenarios.repro import Repro, repro_of, sentence, write
from scenarios.world import World


def found_in(bag: Bag, session: Session, world: World) -> Repro | None:
    """The violation that ended a recorded run, None when none did."""
    topic = next((t for t in session.graph.topics if t.message is Violation), None)
    if topic is None or not bag.counts.get(topic.name):
        return None
    logs = recorded(bag, session).logs
    violation = read(logs[topic.name]["data"][0], Violation)
    truth = next(t for t in session.graph.topics if t.message is TruthState and t.publisher is topic.publisher)
    states = [plain(plant_of)(read(record, TruthState)) for record in logs[truth.name]["data"][-2:]]
    return repro_of(
        world.plant_params(),
        states[0],
        violation.command,
        session.graph.period_ns / NS_PER_S,
        states[-1],
        Found(violation.kind, violation.field),
        violation.step,
    )


def report(bag: str, session: Session, world: World) -> str | None:
    """Write the repro file of a violation that ended the run recorded in ``bag``, beside it, and say what was found."""
    if not any(t.message is Violation for t in session.graph.topics):
        return None
    repro = found_in(Bag.open(bag), session, world)
    if repro is None:
        return None
    path = str(Path(bag).with_suffix(".repro.yaml"))
    write(path, repro)
    return f"invariant monitor: {sentence(repro)}\nrun that step again: holeshot bag verify --repro {path}"
