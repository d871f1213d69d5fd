"""What many runs say together: success rate with its interval, lap times, gate errors, speed and failures."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

CONFIDENCE = 0.95


def summary(results: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The statistics of a batch's results, as a JSON object; null where nothing was measured. SI units.

    The interval of the success rate is Clopper and Pearson's at 95 %; a percentile interpolates between its neighbours.
    Lap times are those of completed laps and gate errors those of all passages, of failed runs too.
    """
    scores = [r["score"] for r in results if r["score"] is not None]
    good = sum(bool(s["success"]) for s in scores)
    failed = [s for s in scores if not s["success"]]
    laps = [t for s in scores for t in s["lap_time"] if t is not None]
    errors = [p["gate_error"] for s in scores for p in s["passages"]]
    reasons = Counter(s["reason"] for s in failed)
    if len(scores) < len(results):
        reasons["no verdict"] = len(results) - len(scores)
    places = Counter(s["failed_gate"] for s in failed if s["failed_gate"] is not None)
    return {
        "runs": len(results),
        "succeeded": good,
        "success_rate": good / len(results) if results else None,
        "success_rate_interval": list(clopper_pearson(good, len(results))) if results else None,
        "lap_time": {"p50": percentile(laps, 0.50), "p95": percentile(laps, 0.95)},
        "gate_error": {
            "p50": percentile(errors, 0.50),
            "p99": percentile(errors, 0.99),
            "max": max(errors, default=None),
        },
        "max_speed_m_s": max((s["max_speed_m_s"] for s in scores), default=None),
        "failures": dict(sorted(reasons.items(), key=lambda item: (-item[1], item[0]))),
        "failed_gates": {str(gate): n for gate, n in sorted(places.items())},
    }


def percentile(values: Sequence[float], fraction: float) -> float | None:
    """The value below which ``fraction`` of the values lie, linear between order statistics; None without values."""
    if not values:
        return None
    ordered = sorted(values)
    place = fraction * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def clopper_pearson(good: int, runs: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """The exact interval of a binomial proportion. Source: C. Clopper, E. Pearson, Biometrika 26 (1934), 404-413.

    Its ends are quantiles of the beta distribution: alpha / 2 of (k, n - k + 1), and 1 - alpha / 2 of (k + 1, n - k).
    """
    tail = 0.5 * (1.0 - confidence)
    low = 0.0 if good == 0 else _beta_quantile(tail, good, runs - good + 1)
    high = 1.0 if good == runs else _beta_quantile(1.0 - tail, good + 1, runs - good)
    return low, high


def _beta_quantile(probability: float, a: float, b: float) -> float:
    """The x with I_x(a, b) = probability, by bisection to the last bit that matters."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        if incomplete_beta(middle, a, b) < probability:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


def incomplete_beta(x: float, a: float, b: float) -> float:
    """The regularized incomplete beta function I_x(a, b) for a, b > 0.

    Continued fraction of M. Abramowitz, I. Stegun, "Handbook of Mathematical Functions", 26.5.8, by Lentz's method, on
    the side of the mean where it converges fast.
    """
    if x <= 0.0 or x >= 1.0:
        return 0.0 if x <= 0.0 else 1.0
    if x > (a + 1.0) / (a + b + 2.0):
        return 1.0 - incomplete_beta(1.0 - x, b, a)
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return math.exp(log_front) / (a * _continued_fraction(x, a, b))


def _continued_fraction(x: float, a: float, b: float) -> float:
    """1 + d1/(1 + d2/(1 + ...)), d2m = m (b - m) x / ((a + 2m - 1)(a + 2m)) and
    d2m+1 = -(a + m)(a + b + m) x / ((a + 2m)(a + 2m + 1)).
    """
    tiny = 1e-300
    value, upper, lower = 1.0, 1.0, 0.0
    for step in range(1, 100_000):
        m = step // 2
        if step % 2:
            d = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            d = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        lower = 1.0 / (1.0 + d * lower or tiny)
        upper = 1.0 + d / upper or tiny
        value *= upper * lower
        if abs(upper * lower - 1.0) < 1e-15:
            break
    return value


def rows(found: dict[str, Any]) -> list[tuple[str, str]]:
    """A summary as (name, value) pairs for a person."""
    low, high = found["success_rate_interval"] or (0.0, 1.0)
    laps, errors, speed = found["lap_time"], found["gate_error"], found["max_speed_m_s"]
    values = [
        ("runs", str(found["runs"])),
        ("success", success_text(found)),
        ("95 % interval", f"{100 * low:.2f} to {100 * high:.2f} %"),
        ("lap time", "-" if laps["p50"] is None else f"{laps['p50']:.3f} s p50, {laps['p95']:.3f} s p95"),
        ("gate error", _errors(errors)),
        ("max speed", "-" if speed is None else f"{speed:.3f} m/s"),
    ]
    values += [(f"failed: {reason}", str(count)) for reason, count in found["failures"].items()]
    values += [(f"at gate {gate}", str(count)) for gate, count in found["failed_gates"].items()]
    return values


def success_text(found: dict[str, Any]) -> str:
    """How many runs succeeded, and the rate."""
    if not found["runs"]:
        return "-"
    return f"{found['succeeded']} of {found['runs']} ({100 * found['success_rate']:.1f} %)"


def _errors(errors: dict[str, float | None]) -> str:
    if errors["p50"] is None:
        return "-"
    return f"{errors['p50']:.3f} m p50, {errors['p99']:.3f} m p99, {errors['max']:.3f} m max"


def sweep_table(groups: Sequence[tuple[Mapping[str, Any], dict[str, Any]]]) -> tuple[list[str], list[list[str]]]:
    """Header and lines of a table with a line per combination of values: parameters by their last name, statistics."""
    header = [name.rpartition(".")[2] for name in groups[0][0]]
    header += ["success", "95 % interval", "lap p50, p95", "gate error p50, p99", "max speed", "failures"]
    lines = []
    for values, found in groups:
        low, high = found["success_rate_interval"] or (0.0, 1.0)
        laps, errors, speed = found["lap_time"], found["gate_error"], found["max_speed_m_s"]
        lines.append(
            [
                *(f"{v:g}" if isinstance(v, float) else str(v) for v in values.values()),
                f"{found['succeeded']} of {found['runs']}",
                f"{100 * low:.1f}-{100 * high:.1f} %",
                "-" if laps["p50"] is None else f"{laps['p50']:.2f}, {laps['p95']:.2f} s",
                "-" if errors["p50"] is None else f"{errors['p50']:.3f}, {errors['p99']:.3f} m",
                "-" if speed is None else f"{speed:.3f} m/s",
                ", ".join(f"{reason} {count}" for reason, count in found["failures"].items()) or "-",
            ]
        )
    return header, lines
