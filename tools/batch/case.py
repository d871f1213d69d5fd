"""One configuration of a batch: a launch and a world, compiled, flown under any seed and scored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from graph.batch import CompiledGraph, RunMemories
from graph.build import build
from graph.errors import InputError
from graph.launch import Launch
from graph.run import prepare
from msgs.gate_passage import GatePassage
from msgs.record import read
from msgs.score import Score
from scenarios.world import World
from tools.score_report import score_of

MEMORIES = RunMemories()

Result = dict[str, Any]
"""One run of a batch: its seed, the values set for it if any were, and its score."""


class Case:
    """What is flown under every seed. Raises InputError where it cannot be: no scorer, a node of plain Python."""

    def __init__(
        self,
        launch: Launch,
        world: World,
        values: Mapping[str, Any],
        on_compile: Callable[[str], None] = lambda name: None,
    ) -> None:
        self.launch = launch
        self.world = world
        self.values = dict(values)
        self.session = build(launch, world)
        topics = {t.message: t.name for t in self.session.graph.topics if t.message in (Score, GatePassage)}
        if Score not in topics:
            raise InputError(f"launch {launch.name}: no node publishes a score, which a batch is made of; add a scorer")
        self._topics = topics
        self._gates = world.course.gate_ids
        prepare(self.session, "fused", on_compile)
        self.compiled = CompiledGraph(self.session, topics.values())

    def fly(self, seed: int, cancelled: Callable[[], bool] = lambda: False) -> Result:
        """Fly under ``seed`` until the verdict, without recording. Raises graph.batch.Cancelled."""
        flight = MEMORIES.of(self.compiled).fly(self.world.with_seed(seed), cancelled)
        found = {
            kind: [read(record, kind) for record in flight.messages[topic]["data"]]
            for kind, topic in self._topics.items()
        }
        result: Result = {"seed": seed}
        if self.values:
            result["set"] = self.values
        return result | {"score": score_of(found[Score], found.get(GatePassage, []), self._gates)}

    @property
    def title(self) -> str:
        """The values set, in words."""
        return ", ".join(f"{name.rpartition('.')[2]} {value}" for name, value in self.values.items())
