"""What a batch shows while it runs: what is compiled, then runs done, their rate and the time left."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from tools import terminal
from tools.batch.case import Result

PLAIN_PERIOD_S = 5.0  # between lines where no terminal is there


class BatchDisplay:
    """Progress of a batch on standard error."""

    def __init__(self) -> None:
        self._progress: Progress | None = None
        self._task = TaskID(0)
        self._done = self._failed = self._total = 0
        self._begun = self._printed = 0.0

    @contextlib.contextmanager
    def running(self, total: int) -> Iterator[None]:
        """Shows the runs that ``advance`` reports."""
        self._total = total
        self._begun = self._printed = time.monotonic()
        if not terminal.progress.is_terminal:
            yield
            return
        columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"), TimeRemainingColumn())
        with Progress(*columns, console=terminal.progress, transient=True) as self._progress:
            self._task = self._progress.add_task("", total=total)
            yield

    def advance(self, result: Result) -> None:
        """One more run is done."""
        self._done += 1
        self._failed += result["score"] is None or not result["score"]["success"]
        now = time.monotonic()
        text = f"{self._done / max(now - self._begun, 1e-3):.0f} runs/s, {self._failed} failed"
        if self._progress is not None:
            self._progress.update(self._task, advance=1, description=text)
        elif now - self._printed > PLAIN_PERIOD_S:
            self._printed = now
            terminal.progress.print(f"{self._done} of {self._total} runs, {text}")
