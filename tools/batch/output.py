"""The pictures and the report a batch may write."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from graph.errors import InputError
from tools.batch.case import Case, Result

PICTURES = (".svg", ".png", ".pdf")


def check_outputs(plot: Path | None, report: Path | None) -> None:
    """Raises InputError, before anything is flown, where a file could not be written."""
    if plot is not None and plot.suffix not in PICTURES:
        raise InputError(f"--plot {plot}: a picture is a file {', '.join(PICTURES)}")
    if report is not None and report.suffix != ".html":
        raise InputError(f"--report {report}: a report is a file .html")
    for option, path in (("--plot", plot), ("--report", report)):
        if path is not None:
            if not path.parent.is_dir():
                raise InputError(f"{option} {path}: there is no folder {path.parent}")
            from tools.plots import require_matplotlib

            require_matplotlib(option)


def write_outputs(
    plot: Path | None, report: Path | None, cases: Sequence[Case], results: Sequence[Sequence[Result]]
) -> None:
    """Draw the results and write the report, where asked for."""
    if plot is not None:
        from tools.plots import batch_figure, save

        save(batch_figure(cases[0].world, [(c.values, r) for c, r in zip(cases, results, strict=True)]), plot)
    if report is not None:
        from tools.report import write_batch

        write_batch(report, cases[0].world, [(c.title, c.values, r) for c, r in zip(cases, results, strict=True)])
