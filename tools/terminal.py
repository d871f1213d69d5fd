"""What every subcommand prints with: one console for results, one for progress, and a plain table."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
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


def working(text: str) -> contextlib.AbstractContextManager[Any]:
    """A progress line for work that may take a while, where a terminal is there."""
    return progress.status(text) if progress.is_terminal else contextlib.nullcontext()
