"""``holeshot bench``: how fast it is on this machine, against what it should reach."""

from __future__ import annotations

import json
import os
from typing import Annotated, Any

import typer

from graph.cores import available_cores


def bench(
    names: Annotated[list[str] | None, typer.Argument(metavar="[ROW]...", help="rows; by default all of them")] = None,
    skip: Annotated[list[str] | None, typer.Option(metavar="ROW", help="a row to leave out; may be repeated")] = None,
    show: Annotated[bool, typer.Option("--list", help="list the rows and exit")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="print one JSON object with every row")] = False,
) -> None:
    """Measure every row of the speed table in one run; a ratio of at most 1 reaches what it should.

    Rows against C++ need g++ and are left out without it. Exit code 0: measured; 2: bad input.

    Examples: holeshot bench; holeshot bench flight rk4 closed-loop --json; holeshot bench --skip cold
    """
    from tools import terminal
    from tools.bench.measure import Unavailable
    from tools.bench.rows import ROWS

    rows = _chosen(names or [], skip or [], {row.name: row for row in ROWS})
    if show:
        terminal.table("bench", [[row.name, row.what, _reach(row)] for row in rows], ("row", "what", "reach"))
        return
    found: list[dict[str, Any]] = []
    for number, row in enumerate(rows, 1):
        with terminal.working(f"{row.what} ({number} of {len(rows)})"):
            try:
                measured = row.measure()
            except Unavailable as reason:
                found.append({"name": row.name, "what": row.what, "left_out": str(reason)})
                continue
        ratio = row.ratio(measured)
        found.append(
            {
                "name": row.name,
                "what": row.what,
                "value": measured.value,
                "unit": measured.unit,
                "reach": row.reach,
                "ratio": ratio,
                "reached": None if ratio is None else ratio <= 1.0,
                "detail": measured.detail,
                "numbers": measured.numbers,
            }
        )
    if as_json:
        print(json.dumps({"cores": len(available_cores()), "load": os.getloadavg()[0], "rows": found}))
    else:
        reach = {row.name: _reach(row) for row in rows}
        lines = [_line(entry, reach[entry["name"]]) for entry in found]
        load = f"bench, on {len(available_cores())} cores under a load of {os.getloadavg()[0]:.1f}"
        terminal.table(load, lines, ("row", "what", "measured", "reach", "ratio"))
        for entry in found:
            text = entry.get("left_out") or entry["detail"]
            if text:
                terminal.results.print(f"{entry['name']}: {text}", soft_wrap=True, markup=False)


def _chosen(names: list[str], skip: list[str], rows: dict[str, Any]) -> list[Any]:
    from graph.config import did_you_mean
    from graph.errors import InputError

    for name in (*names, *skip):
        if name not in rows:
            raise InputError(f"bench: no row {name}{did_you_mean(name, rows)}; valid: {', '.join(rows)}")
    return [row for name, row in rows.items() if (not names or name in names) and name not in skip]


def _reach(row: Any) -> str:
    return "" if row.reach is None else f"at {'least' if row.at_least else 'most'} {row.reach:g}"


def _line(entry: dict[str, Any], reach: str) -> list[str]:
    if "left_out" in entry:
        return [entry["name"], entry["what"], "-", reach, "left out"]
    ratio = "" if entry["ratio"] is None else f"{entry['ratio']:.2f}{'' if entry['reached'] else ', missed'}"
    return [entry["name"], entry["what"], f"{entry['value']:.3g} {entry['unit']}", reach, ratio]
