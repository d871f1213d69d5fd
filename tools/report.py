"""A report of a flight or a batch: one HTML file with its tables and pictures, which needs no network."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graph.errors import InputError, why
from graph.files import whole
from tools.batch.summary import rows, summary, sweep_table
from tools.plots import batch_figure, drawn, flight_figure
from tools.score_report import rows as score_rows

if TYPE_CHECKING:
    from graph.bag import Bag
    from scenarios.world import World

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; margin: 1rem 0; }
td, th { border: 1px solid #ccc; padding: 0.25rem 0.75rem; text-align: left; }
svg { width: 100%; height: auto; }
pre { background: #f5f5f5; padding: 1rem; overflow: auto; }
"""


def write_batch(
    path: Path, world: World, groups: Sequence[tuple[str, Mapping[str, Any], Sequence[dict[str, Any]]]]
) -> None:
    """The report of a batch: per combination of values its title, the values and the results. Raises InputError."""
    found = [(values, summary(results)) for _, values, results in groups]
    title = f"{world.scenario.name}: {found[0][1]['runs']} seeds{' each' if len(found) > 1 else ''}"
    names, lines = sweep_table(found)
    table = _table(rows(found[0][1])) if len(found) == 1 else _table(lines, names)
    failed = [
        [
            *(str(v) for v in values.values()),
            str(r["seed"]),
            r["score"]["reason"] if r["score"] else "no verdict",
            str(r["score"]["failed_gate"]) if r["score"] else "-",
        ]
        for _, values, results in groups
        for r in results
        if not r["score"] or not r["score"]["success"]
    ]
    header = [*(name.rpartition(".")[2] for name in groups[0][1]), "seed", "reason", "gate"]
    parts = [table, _picture(drawn(batch_figure(world, [(v, r) for _, v, r in groups]), "svg"))]
    if failed:
        parts += ["<h2>Failed runs</h2>", _table(failed, header)]
    _write(path, title, [*parts, _configuration(world)])


def write_flight(path: Path, bag: Bag, world: World, score: dict[str, Any] | None, trust: bool = False) -> None:
    """The report of one recorded flight. Raises InputError."""
    table = _table(score_rows(score)) if score is not None else "<p>no verdict</p>"
    picture = _picture(drawn(flight_figure(bag, world, score, trust), "svg"))
    _write(path, f"{world.scenario.name}, seed {world.seed}", [table, picture, _configuration(world)])


def _write(path: Path, title: str, parts: Sequence[str]) -> None:
    text = "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            f'<head><meta charset="utf-8"><title>{html.escape(title)}</title><style>{STYLE}</style></head>',
            f"<body><h1>{html.escape(title)}</h1>",
            *parts,
            "</body></html>",
        ]
    )
    try:
        with whole(path) as part:
            part.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: {why(error)}") from None


def _table(lines: Sequence[Sequence[str]], header: Sequence[str] = ()) -> str:
    def line(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    head = line(header, "th") if header else ""
    return f"<table>{head}{''.join(line(cells, 'td') for cells in lines)}</table>"


def _picture(svg: bytes) -> str:
    text = svg.decode()
    return text[text.index("<svg") :]


def _configuration(world: World) -> str:
    files = "".join(f"<h3>{kind}</h3><pre>{html.escape(text)}</pre>" for kind, text in world.resolved().items())
    return f"<details><summary>Configuration</summary>{files}</details>"
