"""Pictures of one recorded flight and of a batch: matplotlib figures, saved as SVG, PNG or PDF."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from graph.errors import InputError, why
from graph.files import whole
from msgs.truth_state import TruthState
from scenarios.course import Course
from tools.batch.summary import percentile, summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from graph.bag import Bag
    from scenarios.world import World

Results = Sequence[dict[str, Any]]
Groups = Sequence[tuple[Mapping[str, Any], Results]]
"""Per combination of values: the values, and the results under each seed."""

STYLE: Any = {"font.size": 9.0, "axes.grid": True, "grid.alpha": 0.3, "svg.hashsalt": "holeshot"}
GOOD, BAD, PATH = "#2a7f3f", "#c0392b", "#1f5fa8"


def require_matplotlib(option: str) -> None:
    """Raises InputError, which says how to get it, when matplotlib is not installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise InputError(
            f"{option}: drawing needs matplotlib, which is not installed: pip install 'holeshot[plot]'"
        ) from None


def save(figure: Figure, path: Path) -> None:
    """Write a figure in the format its name ends in; equal figures give equal files. Raises InputError."""
    try:
        with whole(path) as part:
            part.write_bytes(drawn(figure, path.suffix[1:]))
    except OSError as error:
        raise InputError(f"{path}: {why(error)}") from None


def drawn(figure: Figure, kind: str) -> bytes:
    """The file of a figure: ``svg``, ``png`` or ``pdf``."""
    import matplotlib

    buffer = io.BytesIO()
    stamp: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind, {})
    with matplotlib.rc_context(STYLE):
        figure.savefig(buffer, format=kind, metadata=stamp, dpi=150)
    return buffer.getvalue()


def figure_of(panels: Sequence[Callable[[Axes], None]], columns: int = 2) -> Figure:
    """One figure with a panel for each function that draws one."""
    import matplotlib
    from matplotlib.figure import Figure

    lines = math.ceil(len(panels) / columns)
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(6.0 * columns, 4.0 * lines), layout="constrained")
        for place, draw in enumerate(panels):
            draw(figure.add_subplot(lines, columns, place + 1))
    return figure


def flight_figure(bag: Bag, world: World, score: dict[str, Any] | None, trust: bool = False) -> Figure:
    """Laps from above, speed, height, and the error at each gate. Raises InputError for a bag without truth."""
    from graph.recording import recorded
    from tools.recorded_session import from_bag

    session, _ = from_bag(bag, trust=trust)
    topic = next((t.name for t in session.graph.topics if t.message is TruthState), None)
    log = None if topic is None else recorded(bag, session).logs.get(topic)
    if log is None or not len(log):
        raise InputError(f"{bag.path}: there is no truth in it to draw")
    truth = log["data"]
    passages = score["passages"] if score is not None else []
    failed = score["failed_gate"] if score is not None else None
    return figure_of(
        [
            lambda axes: _from_above(axes, world.course, truth["position"], failed),
            lambda axes: _speed(axes, truth, world.scenario.speed_limit_m_s, passages),
            lambda axes: _gate_errors(axes, passages),
            lambda axes: _height(axes, truth),
        ]
    )


def batch_figure(world: World, groups: Groups) -> Figure:
    """Of one configuration: lap times, gate errors, failures by gate; of several, statistics against what was set."""
    if len(groups) == 1:
        results = groups[0][1]
        return figure_of(
            [
                lambda axes: _lap_times(axes, results),
                lambda axes: _error_spread(axes, results),
                lambda axes: _failures(axes, world.course, results),
                lambda axes: _top_speeds(axes, results, world.scenario.speed_limit_m_s),
            ]
        )
    panels: list[Callable[[Axes], None]] = []
    for name in groups[0][0]:
        values = list(dict.fromkeys(values[name] for values, _ in groups))
        if len(values) > 1:
            panels += _against(name, values, groups)
    return figure_of(panels, columns=3)


def _from_above(axes: Axes, course: Course, position: np.ndarray[Any, Any], failed: int | None) -> None:
    axes.plot(position["x"], position["y"], color=PATH, linewidth=0.8)
    _course(axes, course, {} if failed is None else {failed: 1})
    axes.set_title("from above")


def _course(axes: Axes, course: Course, failures: Mapping[int, int]) -> None:
    for gate in course.gates:
        x, y, _ = gate.position_m
        across = [0.5 * gate.inner_size_m[0] * a for a in gate.left]
        colour = BAD if failures.get(gate.id) else GOOD
        axes.plot([x - across[0], x + across[0]], [y - across[1], y + across[1]], color=colour, linewidth=3.0)
        count = f" ({failures[gate.id]})" if failures.get(gate.id) else ""
        axes.annotate(f"{gate.id}{count}", (x, y), textcoords="offset points", xytext=(5, 5), color=colour)
    axes.plot(*course.start.position_m[:2], marker="s", color="black", markersize=4)
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_xlabel("x, m")
    axes.set_ylabel("y, m")


def _seconds(truth: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    stamp = truth["header"]["stamp"]
    seconds: np.ndarray[Any, Any] = stamp["sec"] + stamp["nanosec"] * 1e-9
    return seconds


def _speed(axes: Axes, truth: np.ndarray[Any, Any], limit: float | None, passages: Results) -> None:
    v = truth["velocity"]
    axes.plot(_seconds(truth), np.sqrt(v["x"] ** 2 + v["y"] ** 2 + v["z"] ** 2), color=PATH, linewidth=0.8)
    if limit is not None:
        axes.axhline(limit, color=BAD, linewidth=0.8, linestyle="--", label=f"limit {limit:g} m/s")
        axes.legend(loc="lower right")
    if passages:
        axes.plot([p["time_s"] for p in passages], [p["speed_m_s"] for p in passages], ".", color=GOOD)
    axes.set_title("speed; a dot at each gate")
    axes.set_xlabel("time, s")
    axes.set_ylabel("speed, m/s")


def _height(axes: Axes, truth: np.ndarray[Any, Any]) -> None:
    axes.plot(_seconds(truth), truth["position"]["z"], color=PATH, linewidth=0.8)
    axes.set_title("height")
    axes.set_xlabel("time, s")
    axes.set_ylabel("z, m")


def _gate_errors(axes: Axes, passages: Results) -> None:
    axes.bar(range(1, len(passages) + 1), [p["gate_error"] for p in passages], color=PATH)
    if passages:
        axes.set_xticks(range(1, len(passages) + 1), [str(p["gate"]) for p in passages])
    axes.set_title("distance from the centre at each gate")
    axes.set_xlabel("gate")
    axes.set_ylabel("gate error, m")


def _lap_times(axes: Axes, results: Results) -> None:
    times = [t for r in results if r["score"] for t in r["score"]["lap_time"] if t is not None]
    axes.hist(times, bins=40, color=PATH)
    axes.set_title(f"lap times, {len(times)} laps")
    axes.set_xlabel("lap time, s")
    axes.set_ylabel("laps")


def _error_spread(axes: Axes, results: Results) -> None:
    errors: dict[int, list[float]] = {}
    for result in results:
        for passage in result["score"]["passages"] if result["score"] else ():
            errors.setdefault(passage["gate"], []).append(passage["gate_error"])
    gates = sorted(errors)
    if gates:
        axes.boxplot([errors[gate] for gate in gates], whis=(1, 99), showfliers=False)
        axes.set_xticks(range(1, len(gates) + 1), [str(gate) for gate in gates])
    axes.set_title("gate errors: quartiles, 1 % and 99 %")
    axes.set_xlabel("gate")
    axes.set_ylabel("gate error, m")


def _failures(axes: Axes, course: Course, results: Results) -> None:
    places = summary(results)["failed_gates"]
    _course(axes, course, {int(gate): count for gate, count in places.items()})
    axes.set_title(f"failures by place, {sum(places.values())} of {len(results)} runs")


def _top_speeds(axes: Axes, results: Results, limit: float | None) -> None:
    axes.hist([r["score"]["max_speed_m_s"] for r in results if r["score"]], bins=40, color=PATH)
    if limit is not None:
        axes.axvline(limit, color=BAD, linewidth=0.8, linestyle="--")
    axes.set_title("highest speed of each run")
    axes.set_xlabel("max speed, m/s")
    axes.set_ylabel("runs")


def _against(name: str, values: Sequence[Any], groups: Groups) -> list[Callable[[Axes], None]]:
    """Success rate with its interval, lap time and gate error over the values of one parameter, all others together."""
    pooled = [[r for v, results in groups if v[name] == value for r in results] for value in values]
    found = [summary(results) for results in pooled]
    numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)
    at: Sequence[float] = [float(v) for v in values] if numbers else range(len(values))

    def axis(axes: Axes, title: str, label: str) -> None:
        if not numbers:
            axes.set_xticks(list(at), [str(v) for v in values])
        axes.set_title(title)
        axes.set_xlabel(name.rpartition(".")[2])
        axes.set_ylabel(label)

    def success(axes: Axes) -> None:
        rates = [100.0 * s["success_rate"] if s["runs"] else math.nan for s in found]
        ends = [s["success_rate_interval"] or (math.nan, math.nan) for s in found]
        spread = [[r - 100.0 * e[0] for r, e in zip(rates, ends)], [100.0 * e[1] - r for r, e in zip(rates, ends)]]
        axes.errorbar(at, rates, yerr=np.maximum(spread, 0.0), fmt="o-", color=GOOD, capsize=3)
        axes.set_ylim(-3.0, 103.0)
        axis(axes, "success, 95 % interval", "success, %")

    def laps(axes: Axes) -> None:
        for fraction, style in ((0.5, "o-"), (0.95, "o--")):
            times = [
                [t for r in results if r["score"] for t in r["score"]["lap_time"] if t is not None]
                for results in pooled
            ]
            axes.plot(
                at, [_or_nan(percentile(t, fraction)) for t in times], style, color=PATH, label=f"p{100 * fraction:g}"
            )
        axes.legend()
        axis(axes, "lap time", "lap time, s")

    def errors(axes: Axes) -> None:
        for part, style in (("p50", "o-"), ("p99", "o--")):
            axes.plot(at, [_or_nan(s["gate_error"][part]) for s in found], style, color=PATH, label=part)
        axes.legend()
        axis(axes, "gate error", "gate error, m")

    return [success, laps, errors]


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else value
