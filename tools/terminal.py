"""What every subcommand prints with: one console for results, one for progress, and a plain table."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

results = Console(highlight=False)
progress = Console(stderr=True, highlight=False)


def table(title: str, rows: Sequence[Sequence[str]], header: Sequence[str] = ()) -> None:
    """Print a table of texts."""
    grid = Table(title=title, show_header=bool(header), title_justify="left")
    for name in header or [""] * len(rows[0]):
        grid.add_column(name, overflow="fold")
    for row in rows:
        grid.add_row(*row)
    results.print(grid)


LONG_S = 3.0
"""A compilation that takes longer is worth a word."""


@contextlib.contextmanager
def compiling(total: int | None = None) -> Iterator[Callable[[str], None]]:
    """Shows the name of each part as it is compiled, of ``total`` if known; says so at the end if that took long."""
    begun, done = time.monotonic(), 0
    with working("loading") as status:

        def on_part(name: str) -> None:
            nonlocal done
            done += 1
            if status is not None:
                count = "" if total is None else f" ({done} of {total})"
                status.update(f"compiling, once per source change: {name}{count}")

        yield on_part
    took = time.monotonic() - begun
    if took > LONG_S:
        progress.print(f"compiled {done} parts in {took:.0f} s; the next run finds them in the cache")


def working(text: str) -> contextlib.AbstractContextManager[Any]:
    """A progress line for work that may take a while, where a terminal is there."""
    return progress.status(text) if progress.is_terminal else contextlib.nullcontext()
