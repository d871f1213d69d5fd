"""What a launch shows while it flies, and its result at the end."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any

import numpy as np
from rich.status import Status

from graph.build import Session
from graph.run import prepare
from msgs.gate_passage import GatePassage
from msgs.layout import record_dtype
from msgs.record import read
from msgs.score import Score
from msgs.score_progress import ScoreProgress
from scenarios.world import World
from tools import terminal
from tools.score_report import rows, score_of

PLAIN_PERIOD_S = 5.0  # between lines where no terminal is there


class FlightDisplay:
    """Progress on the terminal: simulated time, real-time factor, lap and gate."""

    def __init__(self, session: Session, world: World) -> None:
        self._session = session
        self._world = world
        self._kinds = {
            t.name: t.message for t in session.graph.topics if t.message in (Score, GatePassage, ScoreProgress)
        }
        self._gates = world.course.gate_ids
        self._scores: list[Score] = []
        self._passages: list[GatePassage] = []
        self._status: Status | None = None
        self._begun = self._printed = time.monotonic()

    @property
    def watched(self) -> tuple[str, ...]:
        """The topics the display is made of."""
        return tuple(self._kinds)

    def prepare(self, runner: str) -> None:
        """Compile what the runner needs, with a line for the first time, when it takes long."""
        with terminal.compiling(len(self._session.graph.instances) + (runner == "fused")) as on_entry:
            prepare(self._session, runner, on_entry)

    def __enter__(self) -> FlightDisplay:
        self._begun = self._printed = time.monotonic()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._status is not None:
            self._status.stop()

    def on_notice(self, text: str) -> None:
        """Show what a part of the run has to say."""
        terminal.progress.print(text, soft_wrap=True)

    def on_message(self, topic: str, data: bytes) -> None:
        """Take a watched message."""
        kind = self._kinds[topic]
        message = read(np.frombuffer(data, record_dtype(kind))[0], kind)
        if isinstance(message, Score):
            self._scores.append(message)
        elif isinstance(message, GatePassage):
            self._passages.append(message)
        else:
            self._show(message)

    def _show(self, progress: ScoreProgress) -> None:
        now = time.monotonic()
        simulated = progress.stamp * 1e-9
        factor = simulated / max(now - self._begun, 1e-3)
        text = f"{simulated:6.1f} s simulated  {factor:5.1f}x real time  {progress.speed:4.1f} m/s"
        if progress.gates_total:
            text += f"  lap {progress.lap + 1}  next gate {self._gates[progress.next_gate]}"
            text += f"  ({progress.gates_passed} of {progress.gates_total})"
        if terminal.progress.is_terminal:
            if self._status is None:
                # Started only now: the processes are forked by then, and a fork copies no thread.
                self._status = terminal.progress.status(text)
                self._status.start()
            self._status.update(text)
        elif now - self._printed > PLAIN_PERIOD_S:
            self._printed = now
            terminal.progress.print(text)

    def result(self) -> dict[str, Any] | None:
        """The score, or None when the run had none: no scorer, or ended by Ctrl-C before its verdict."""
        return score_of(self._scores, self._passages, self._gates)

    def print_result(self, result: dict[str, Any] | None, bag: str | None) -> None:
        """The score table and the bag's path."""
        title = f"{self._world.scenario.name}, seed {self._world.seed}"
        if result is None:
            terminal.results.print(f"{title}: no score")
        else:
            terminal.table(title, rows(result))
        terminal.results.print(f"bag: {bag or 'none: there is no recorder'}", soft_wrap=True)
